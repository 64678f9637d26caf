#include <array>

#include "sim/trace/trace_builder.h"
#include "sim/trace/trace_csv.h"
#include "sim/trace/trace_readers.h"

namespace tandem::sim {
namespace {

enum PolluxColumn : std::size_t { kPolluxName, kTime, kApplication, kReplicas, kBatch };
constexpr std::array<std::string_view, 5> kPolluxColumns{"name", "time", "application", "num_replicas",
                                                         "batch_size"};

TraceJob pollux_job(CsvTable& table) {
  TraceJob job;
  job.line = table.line();
  job.name = table.text(kPolluxName);
  job.submitted = table.number(kTime, 0, kLatest);
  job.application = table.label(kApplication);
  job.tasks = table.whole(kReplicas, kMostTasks);
  job.gpus = 1;
  job.batch = table.number_or_hole(kBatch, 1, kMostBatch);
  return job;
}

}  // namespace

bool is_pollux(std::string_view text) {
  constexpr std::array<std::string_view, 3> kTelling{"time", "application", "num_replicas"};
  return has_columns(text, kTelling);
}

Trace read_pollux(std::string_view text, std::string_view file) {
  TraceBuilder builder("pollux", file);
  auto table = CsvTable::with_header(text, file, kPolluxColumns);
  while (table.next()) builder.add(pollux_job(table), table.trouble());
  return builder.finish();
}

}  // namespace tandem::sim
