#include <array>
#include <utility>

#include "sim/trace/trace_builder.h"
#include "sim/trace/trace_csv.h"
#include "sim/trace/trace_readers.h"

namespace tandem::sim {
namespace {

enum Pod : std::size_t {
  kName,
  kCpuMilli,
  kMemoryMib,
  kNumGpu,
  kGpuMilli,
  kGpuSpec,
  kQos,
  kPhase,
  kCreated,
  kDeleted,
  kScheduled
};
constexpr std::array<std::string_view, 11> kPodColumns{
    "name", "cpu_milli", "memory_mib",    "num_gpu",       "gpu_milli",     "gpu_spec",
    "qos",  "pod_phase", "creation_time", "deletion_time", "scheduled_time"};

enum NodeColumn : std::size_t { kSn, kNodeCpuMilli, kNodeMemoryMib, kNodeGpu, kModel };
constexpr std::array<std::string_view, 5> kNodeColumns{"sn", "cpu_milli", "memory_mib", "gpu", "model"};

constexpr double kMilli = 1000;
constexpr double kMostMib = 1e12;

int priority_of(std::string_view qos) {
  if (qos == "LS" || qos == "Guaranteed") return 2;
  return qos == "Burstable" ? 1 : 0;
}

double gpus_of(CsvTable& table) {
  const int count = table.whole(kNumGpu, kMostGpus);
  const double milli = table.number_or_hole(kGpuMilli, 0, kMilli).value_or(0);
  return milli > 0 ? count * milli / kMilli : count;
}

TraceJob pod_of(CsvTable& table) {
  TraceJob job;
  job.line = table.line();
  job.name = table.text(kName);
  job.cores = table.number(kCpuMilli, 0, kMilli * kMostCores) / kMilli;
  job.memory = bytes_of(table.number_or_hole(kMemoryMib, 0, kMostMib), kMiB);
  job.gpus = gpus_of(table);
  job.gpu_type = table.label(kGpuSpec);
  job.queue = table.label(kQos);
  job.priority = priority_of(job.queue);
  job.status = table.label(kPhase);
  job.submitted = table.number(kCreated, 0, kLatest);
  const auto scheduled = table.number_or_hole(kScheduled, 0, kLatest);
  const auto deleted = table.number_or_hole(kDeleted, 0, kLatest);
  if (scheduled && deleted) job.duration = *deleted - *scheduled;
  if (scheduled && *scheduled >= job.submitted) job.waited = *scheduled - job.submitted;
  return job;
}

TraceNode node_from_row(CsvTable& table) {
  TraceNode node;
  node.line = table.line();
  node.name = table.text(kSn);
  node.cores = table.number(kNodeCpuMilli, 0, kMilli * kMostCores) / kMilli;
  node.memory = bytes_of(table.number_or_hole(kNodeMemoryMib, 0, kMostMib), kMiB).value_or(0);
  node.gpus = table.whole(kNodeGpu, kMostGpus);
  node.gpu_type = table.label(kModel);
  return node;
}

}  // namespace

bool is_alibaba_pods(std::string_view text) {
  constexpr std::array<std::string_view, 3> kTelling{"cpu_milli", "num_gpu", "creation_time"};
  return has_columns(text, kTelling);
}

Trace read_alibaba_pods(std::string_view text, std::string_view file) {
  TraceBuilder builder("alibaba-pods", file);
  auto table = CsvTable::with_header(text, file, kPodColumns);
  while (table.next()) {
    auto job = pod_of(table);
    const bool known = job.duration.has_value();
    if (builder.add(std::move(job), table.trouble()) && !known)
      builder.hole(table.line(), "never scheduled or not deleted, so its duration is not known");
  }
  return builder.finish();
}

bool is_alibaba_nodes(std::string_view text) {
  constexpr std::array<std::string_view, 3> kTelling{"sn", "cpu_milli", "gpu"};
  return has_columns(text, kTelling);
}

Trace read_alibaba_nodes(std::string_view text, std::string_view file) {
  TraceBuilder builder("alibaba-nodes", file);
  auto table = CsvTable::with_header(text, file, kNodeColumns);
  while (table.next()) builder.add(node_from_row(table), table.trouble());
  return builder.finish();
}

}  // namespace tandem::sim
