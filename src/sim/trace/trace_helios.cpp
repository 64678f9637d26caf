#include <array>
#include <utility>

#include "sim/trace/trace_builder.h"
#include "sim/trace/trace_csv.h"
#include "sim/trace/trace_readers.h"

namespace tandem::sim {
namespace {

enum HeliosColumn : std::size_t {
  kHeliosJob,
  kHeliosUser,
  kVc,
  kHeliosGpus,
  kCpus,
  kNodes,
  kState,
  kHeliosSubmit,
  kDuration,
  kHeliosQueue
};
constexpr std::array<std::string_view, 10> kHeliosColumns{
    "job_id", "user", "vc", "gpu_num", "cpu_num", "node_num", "state", "submit_time", "duration", "queue"};

TraceJob helios_job(CsvTable& table) {
  TraceJob job;
  job.line = table.line();
  job.name = table.text(kHeliosJob);
  job.user = table.label(kHeliosUser);
  job.queue = table.label(kVc);
  job.status = table.label(kState);
  job.submitted = table.date(kHeliosSubmit);
  job.duration = table.number_or_hole(kDuration, -kLongest, kLongest);
  job.waited = table.number_or_hole(kHeliosQueue, -kLongest, kLongest);
  if (job.waited && *job.waited < 0) job.waited.reset();  // by clocks that disagree
  const int nodes = table.whole(kNodes, kMostTasks), gpus = table.whole(kHeliosGpus, kMostGpus);
  spread_over(job, nodes, gpus);
  if (const auto cores = table.number_or_hole(kCpus, 0, kMostCores * kMostTasks); cores && job.tasks > 0)
    job.cores = *cores / job.tasks;
  return job;
}

}  // namespace

bool is_helios(std::string_view text) {
  constexpr std::array<std::string_view, 3> kTelling{"gpu_num", "node_num", "submit_time"};
  return has_columns(text, kTelling);
}

Trace read_helios(std::string_view text, std::string_view file) {
  TraceBuilder builder("helios", file);
  auto table = CsvTable::with_header(text, file, kHeliosColumns);
  while (table.next()) {
    auto job = helios_job(table);
    const bool known = job.duration.has_value();
    if (builder.add(std::move(job), table.trouble()) && !known) builder.hole(table.line(), "no duration");
  }
  return builder.finish();
}

}  // namespace tandem::sim
