// `tandem sim --trace FILE --policy a,b`: a job trace replayed on a cluster, one row a policy.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "place/policy/policies.h"
#include "sim/trace/replay_trace.h"
#include "sim/trace/trace.h"

namespace tandem::app {

struct TraceOptions {
  std::string trace;              // the file
  std::string format{};           // empty: found by the content
  std::string nodes{};            // a file with nodes, as Alibaba's; or:
  std::string cluster{};          // a ready cluster, or a file
  std::string throughputs{};      // a file with measured throughputs, as Gavel's
  std::string policies = "fifo";  // names, with commas
  std::string checkpoint{};       // "10min": between checkpoints, where nodes fail
  double rate = 1;                // how much faster than in the trace jobs are submitted
  std::string jobs{};             // a file to write every job's fate to, as CSV
  std::string report{};           // a page
  std::uint64_t seed = 1;
  unsigned threads = 1;
};

// Everything that is the same for all policies.
struct TraceStudy {
  sim::Trace trace{};
  sim::TraceReplay replay{};
  std::string where{};  // the cluster, for people
  std::string power_note{};
};

struct PolicyRow {
  place::Policy policy{};
  sim::Replayed replayed{};
  double seconds = 0;  // that it took to simulate
};

inline constexpr const char* kNoJoules = "the power of some device is not known";

std::vector<place::Policy> policies_named(const std::string& names);  // "fifo,heats:H=1"; UserError
TraceStudy prepare_trace(const TraceOptions&);                        // reads the files; UserError
std::vector<PolicyRow> replay_policies(const TraceOptions&, const sim::ReplayInput&);
// Jobs that no empty cluster could hold, whatever their speed.
std::vector<std::uint32_t> never_placed(const TraceStudy&, const PolicyRow&);
nlohmann::json trace_json(const TraceStudy&, const std::vector<PolicyRow>&);

}  // namespace tandem::app
