// What the readers of traces share: the limits on what they believe, and the making of a Trace from what they
// read. A reader makes a job of each line, readable or not, and hands it over with the line's trouble, if
// any; the rules on what is skipped are here, once for all formats. One owner; internal to the readers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/trace/trace.h"
#include "sim/trace/trace_csv.h"

namespace tandem::sim {

// Above these a number is taken for a mistake.
inline constexpr double kLatest = 1e11;  // s: a submission
inline constexpr double kLongest = 1e9;  // s: a duration, 31 years
inline constexpr double kMostBytes = 1e18;
inline constexpr double kMostCores = 1e6;
inline constexpr double kMostSteps = 1e15;
inline constexpr double kMostBatch = 1e9;
inline constexpr double kMostWeight = 1e6;
inline constexpr int kMostGpus = 1'000'000;
inline constexpr int kMostTasks = 1'000'000;

class TraceBuilder {
 public:
  TraceBuilder(std::string_view format, std::string_view file);

  // Whether it was kept; else it was counted among the skipped. UserError above kMostJobs or kMostNodes.
  bool add(TraceJob, const std::optional<TraceTrouble>&);
  bool add(TraceNode, const std::optional<TraceTrouble>&);
  void skip(std::size_t line, const TraceTrouble&);
  void hole(std::size_t line, std::string_view what) { trace_.hole(line, what); }

  // Sorts and shifts. UserError when there is nothing in it. Call once.
  Trace finish();

 private:
  Trace trace_;
};

// Sorts by submission and makes the first one 0.
void start_at_zero(Trace&);

// A job's GPUs on its nodes: a task is a node where they divide, else one GPU. 0 nodes: no tasks.
void spread_over(TraceJob&, int nodes, int gpus);

// E.g. 2 and kMiB; a hole stays one. The product is at most kMostBytes.
std::optional<Bytes> bytes_of(std::optional<double> count, Bytes unit);

}  // namespace tandem::sim
