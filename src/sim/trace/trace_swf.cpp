#include <algorithm>
#include <array>
#include <utility>

#include "sim/trace/trace_builder.h"
#include "sim/trace/trace_csv.h"
#include "sim/trace/trace_readers.h"

namespace tandem::sim {
namespace {

enum SwfColumn : std::size_t {
  kJob,
  kSubmit,
  kWait,
  kRun,
  kAllocated,
  kCpuTime,
  kUsedMemory,
  kRequested,
  kRequestedTime,
  kRequestedMemory,
  kStatus,
  kUser,
  kGroup,
  kExecutable,
  kQueue,
  kPartition,
  kPreceding,
  kThinkTime
};
constexpr std::array<std::string_view, 18> kSwfColumns{"job number",
                                                       "submit time",
                                                       "wait time",
                                                       "run time",
                                                       "allocated processors",
                                                       "CPU time",
                                                       "used memory",
                                                       "requested processors",
                                                       "requested time",
                                                       "requested memory",
                                                       "status",
                                                       "user",
                                                       "group",
                                                       "executable",
                                                       "queue",
                                                       "partition",
                                                       "preceding job",
                                                       "think time"};
constexpr char kComment = ';';
constexpr double kMostKib = 1e15;

// -1 is what is not known.
std::optional<double> known(CsvTable& table, SwfColumn column, double high) {
  const double value = table.number(column, -1, high);
  return value < 0 ? std::nullopt : std::optional(value);
}

std::string word(const CsvTable& table, SwfColumn column) {
  return table.text(column) == "-1" ? std::string() : std::string(table.text(column));
}

int processors(CsvTable& table) {
  const double allocated = known(table, kAllocated, kMostTasks).value_or(0);
  const double requested = known(table, kRequested, kMostTasks).value_or(0);
  return static_cast<int>(allocated >= 1 ? allocated : requested);
}

TraceJob swf_job(CsvTable& table) {
  TraceJob job;
  job.line = table.line();
  job.name = table.text(kJob);
  job.submitted = table.number(kSubmit, 0, kLatest);
  job.waited = known(table, kWait, kLatest);
  job.duration = known(table, kRun, kLongest);
  job.limit = known(table, kRequestedTime, kLatest);
  job.tasks = processors(table);
  job.cores = 1;
  const auto requested = known(table, kRequestedMemory, kMostKib);
  const auto used = known(table, kUsedMemory, kMostKib);
  job.memory = bytes_of(requested ? requested : used, kKiB);
  job.status = word(table, kStatus);
  job.user = word(table, kUser);
  job.application = word(table, kExecutable);
  job.queue = word(table, kQueue);
  return job;
}

}  // namespace

bool is_swf(std::string_view text) {
  CsvLines lines(text, kComment);
  std::vector<std::string> fields;
  if (!lines.next() || split_line(lines.line(), CsvSeparator::blanks, fields) != nullptr) return false;
  return fields.size() == kSwfColumns.size() &&
         std::all_of(fields.begin(), fields.end(),
                     [](const auto& field) { return parse_finite(field).has_value(); });
}

Trace read_swf(std::string_view text, std::string_view file) {
  TraceBuilder builder("swf", file);
  auto table = CsvTable::without_header(text, CsvSeparator::blanks, kSwfColumns, kComment);
  while (table.next()) {
    auto job = swf_job(table);
    const bool timed = job.duration.has_value();
    if (builder.add(std::move(job), table.trouble()) && !timed) builder.hole(table.line(), "no run time");
  }
  return builder.finish();
}

}  // namespace tandem::sim
