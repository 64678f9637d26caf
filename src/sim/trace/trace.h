// Job traces: what was once submitted to a cluster, in one form whatever the file looked like.
//
//     Trace trace = read_trace(text, "cluster_log.csv");  // finds the format by the content
//     for (const auto& line : complaints(trace)) ...      // what was skipped, what is not known
//     require_durations(trace);                           // for a replay that cannot do without
//
// Jobs are in order of submission, and of appearance among equals; times are seconds since the first
// submission. Names may occur more than once. Traces have holes, and a hole is never a 0: it is an empty
// optional or text. A job is skipped and counted when a field cannot be read or is absurd, when its duration
// is known and not above 0, and when it asks for neither cores nor GPUs. Text from the file is safe to print.
// Which fields of which file are relied on: trace_readers.h. Plain values, no files: the text comes from the
// caller.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tandem::sim {

struct TraceJob {
  std::string name;      // job-LINE where the trace has none
  std::size_t line = 0;  // where it stands in the file, from 1

  double submitted = 0;            // s after the first submission
  std::optional<double> duration;  // s on the resources below, > 0
  std::optional<double> waited;    // s in the queue of the cluster the trace is of
  std::optional<double> limit;     // s its owner said it takes at most
  std::optional<double> slo;       // promised: done within this many times its duration

  int tasks = 1;                // equal parts, which may be on different nodes; what follows is one part's
  std::optional<double> cores;  // may be fractional
  std::optional<Bytes> memory;
  double gpus = 0;       // may be fractional: a share of one GPU
  std::string gpu_type;  // "": any; "A|B": either (see accepts)

  std::string application;      // as the trace names it
  std::optional<double> steps;  // to do in all
  std::optional<double> batch;  // samples a step, of all tasks together

  int priority = 0;   // higher first
  double weight = 1;  // of its share, where policies weigh; > 0
  std::string user, queue, status;
};

struct TraceNode {
  std::string name;
  std::size_t line = 0;
  double cores = 0;
  Bytes memory = 0;  // 0: not known
  int gpus = 0;
  std::string gpu_type;
};

// One that was left out. Reasons are few; the detail is what stood there.
struct Skipped {
  std::size_t line = 0;
  std::string reason, detail;
};

struct TraceCount {
  std::string what;
  std::size_t count = 0, first_line = 0;
};

inline constexpr std::size_t kSkippedKept = 20;

struct Trace {
  std::string format, file;
  std::vector<TraceJob> jobs;
  std::vector<TraceNode> nodes;
  double offset = 0;  // the first submission in the file's own time; of dates, s since 1970 as if in UTC

  std::vector<Skipped> skipped;  // the first kSkippedKept
  std::vector<TraceCount> skipped_by_reason;
  std::vector<TraceCount> holes;  // of jobs that were kept

  std::size_t skipped_total() const;
  void skip(std::size_t line, std::string reason, std::string detail);
  void hole(std::size_t line, std::string_view what);
};

// Whether the job may run on GPUs of this type.
bool accepts(const TraceJob&, std::string_view gpu_type);

// One line for each reason in skipped_by_reason and holes, for people.
std::vector<std::string> complaints(const Trace&);

// Skips the jobs whose duration is not known. UserError when none is left.
void require_durations(Trace&);

struct TraceFormat {
  std::string name, description;
  bool (*recognises)(std::string_view text);
  Trace (*read)(std::string_view text, std::string_view file);
  std::string lacks{};  // what a replay needs and the format has not, in words; "": nothing
};
const std::vector<TraceFormat>& trace_formats();
const TraceFormat& trace_format(std::string_view name);  // UserError when there is none

// The format the content has; the name of the file decides only for SWF, and is for messages otherwise.
// UserError when it is none of them.
const TraceFormat& detect(std::string_view text, std::string_view file);

// UserError when the format is unknown, nothing in the text is usable, or the text is above a limit.
Trace read_trace(std::string_view text, std::string_view file, std::string_view format = "");

inline constexpr std::size_t kLargestTrace = std::size_t{2} << 30;  // bytes of text
inline constexpr std::size_t kMostJobs = 5'000'000, kMostNodes = 1'000'000;

}  // namespace tandem::sim
