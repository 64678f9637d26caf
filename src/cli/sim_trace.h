// `tandem sim --trace FILE --policy a,b`: a job trace replayed on a cluster, one row a policy.
#pragma once

#include <cstdint>
#include <string>

#include "cli/command.h"

namespace tandem::cli {

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

// Describes the options, in a group of their own.
void add_trace_options(CLI::App&, TraceOptions&);
int simulate_trace(const TraceOptions&, const JsonOption&);

}  // namespace tandem::cli
