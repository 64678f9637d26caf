// From a trace and a cluster to something that can be replayed (replay.h).
//
// Pure. What the trace does not say is not made up: a job without cores or memory takes none of them, which
// the notes say; a job without a duration must have been skipped (require_durations) or have throughputs.
#pragma once

#include <string>
#include <vector>

#include "sim/trace/replay.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_gavel.h"

namespace tandem::sim {

struct TraceReplay {
  ReplayInput input{};
  std::vector<std::string> notes{};  // for people: what was assumed, what is not known
  // Jobs that were measured on no type of GPU that is here: they never run.
  std::vector<std::uint32_t> not_measured{};
};

// Nodes of a cluster, one pool a group. UserError where a node has two types of GPUs.
std::vector<ReplayPool> pools_of(const spec::Cluster&);
// Nodes of a trace; those that are alike are one pool.
std::vector<ReplayPool> pools_of(const std::vector<TraceNode>&);

// Traces of nodes do not say what nodes draw. Where every GPU model is in a small table of data-sheet watts,
// the draw is taken from there; what was assumed comes back as a line for people. Otherwise nothing is
// touched: "".
std::string assume_power(std::vector<ReplayPool>&);

// `throughputs`: durations are a job's steps over what was measured on each pool's type of GPU, together on
// one node or spread ("TYPE_unconsolidated"). UserError when no job is left that could run.
TraceReplay replay_of(const Trace&, std::vector<ReplayPool>, const Throughputs* throughputs = nullptr);

}  // namespace tandem::sim
