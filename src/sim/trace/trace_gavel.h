// Gavel's measured throughputs, which turn the steps of its traces into durations. (The trace itself:
// trace_readers.h.)
//
// The file is JSON: GPU type -> "('JOB TYPE', GPUS)" -> {"null": steps/s alone, "('OTHER', N)": [a, b] beside
// another job}. Pairs are passed over. A throughput of 0 means that the job does not fit there: not measured,
// and counted, like entries that cannot be read. Plain values; pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/trace/trace.h"

namespace tandem::sim {

struct Throughputs {
  using Work = std::pair<std::string, int>;  // job type, GPUs
  std::string file;
  std::map<std::string, std::map<Work, double>> measured;  // by GPU type: steps a second, > 0
  std::vector<TraceCount> skipped;                         // first_line is 0: JSON has no lines to speak of

  std::optional<double> steps_a_second(const std::string& gpu_type, const std::string& job_type,
                                       int gpus) const;
};

bool is_throughputs(std::string_view text);  // cheap; never throws

// UserError when it is no such file, nothing in it is usable, or it is above kLargestThroughputs.
Throughputs read_throughputs(std::string_view text, std::string_view file);
inline constexpr std::size_t kLargestThroughputs = std::size_t{16} << 20;  // bytes

// Gives every job with steps and without a duration the one it has alone on as many GPUs of this type as it
// has tasks. How many jobs are still without: their work was not measured. UserError for a GPU type that is
// not there.
std::size_t add_durations(Trace&, const Throughputs&, const std::string& gpu_type);

}  // namespace tandem::sim
