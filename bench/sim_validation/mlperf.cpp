// MLPerf's times to train: printed beside linear scaling and beside what communication alone would cost.
// Times to an accuracy also hold start, evaluation and the epochs a larger batch needs, which no model of
// steps predicts.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "bench/sim_validation/calibrate.h"
#include "bench/sim_validation/input.h"
#include "bench/sim_validation/sections.h"
#include "bench/sim_validation/tensorflow_host.h"
#include "graph/zoo.h"

namespace tandem::bench {
namespace {

// Not published with the rows: assumed.
constexpr double kEpochs = 36, kImages = 1'281'167;
constexpr int kBatch = 64, kGpusANode = 8;
constexpr double kNvlink = 200e9,
                 kCables = 400e9;  // bytes a second: between GPUs of a node; out of it, eight of 400 Gb/s

double step_seconds(const graph::Model& model, int gpus, double efficiency) {
  spec::Cluster cluster = ready_cluster("dgx-1");
  spec::DeviceType& gpu = device_of(cluster, "P100");
  calibrated_only(gpu);
  gpu.efficiency = efficiency;
  cluster.types.front().nvlink = kNvlink;
  cluster.types.front().pcie = kCables / kGpusANode;
  cluster.types.front().gpus_an_uplink = 1;
  cluster.nodes.front().count = (gpus + kGpusANode - 1) / kGpusANode;
  cluster.network = {.kind = "star", .bandwidth = kCables};
  spec::Workload workload;
  workload.name = model.name;
  workload.batch = kBatch;
  workload.strong = false;
  workload.iterations = gpus;
  workload.strategy = gpus > kGpusANode ? "hierarchical" : "all-reduce";
  workload.workers = gpus;
  workload.device = gpu.name;
  return sim::run_workload(cluster, workload, model).t_exec;
}

struct Smallest {
  const ScalingRow* row = nullptr;
  double efficiency = 0;
};

Smallest calibrate(const std::vector<ScalingRow>& rows, const ScalingRow& like, const graph::Model& model) {
  Smallest out;
  for (const ScalingRow& row : rows)
    if (row.trouble.empty() && row.source == like.source && row.model == like.model &&
        row.hardware == like.hardware && row.metric == like.metric && (!out.row || row.gpus < out.row->gpus))
      out.row = &row;
  const double step = 60 * out.row->value / (kEpochs * kImages / (double{kBatch} * out.row->gpus));
  out.efficiency =
      efficiency_for(step, [&](double efficiency) { return step_seconds(model, out.row->gpus, efficiency); });
  return out;
}

std::vector<std::string> predict(const std::vector<ScalingRow>& rows, const ScalingRow& row) {
  if (!row.trouble.empty()) throw UserError(row.trouble);
  if (row.metric != "minutes") throw UserError(fmt::format("metric '{}' is not known", row.metric));
  const auto name = zoo_name(row.model);
  if (!name) throw UserError(fmt::format("the zoo has no model '{}'", row.model));
  const graph::Model model = graph::make(*name);
  const Smallest one = calibrate(rows, row, model);
  const double linear = one.row->value * one.row->gpus / row.gpus;
  const double slower =
      step_seconds(model, row.gpus, one.efficiency) / step_seconds(model, one.row->gpus, one.efficiency);
  return {row.model,
          row.hardware,
          std::to_string(row.gpus),
          plain(row.value, 3),
          plain(linear, 3),
          plain(linear / row.value, 2),
          plain(linear * slower, 3),
          one.row == &row ? "calibration" : signed_percent(linear * slower / row.value - 1)};
}

}  // namespace

Section mlperf_section(const std::string& data) {
  Section section{"MLPerf"};
  const auto rows = read_scaling(data);
  if (!rows) {
    section.summary = "there is no published/horovod-mlperf.csv";
    section.verdict = Verdict::absent;
    return section;
  }
  section.say(
      fmt::format("Minutes to train to an accuracy. Linear from the smallest row, and ours: the same "
                  "samples, with what sharing "
                  "gradients costs (simulated operation by operation; assumed: {:.0f} epochs, {} images a "
                  "GPU at a time, {:.0f} and "
                  "{:.0f} GB/s in a node and out of it, no latency). What is missing is no communication: "
                  "start, evaluation, and more "
                  "epochs at larger batches. It is printed, not judged.",
                  kEpochs, kBatch, kNvlink / 1e9, kCables / 1e9));
  Table table{"", {"model", "hardware", "GPUs", "published", "linear", "efficiency", "ours", "error"}};
  std::size_t printed = 0, missing = 0;
  for (const ScalingRow& row : *rows) {
    if (row.source.find("mlperf") == std::string::npos) continue;
    try {
      table.rows.push_back(predict(*rows, row));
      ++printed;
    } catch (const UserError& error) {
      ++missing;
      table.rows.push_back({row.model, row.hardware, std::to_string(row.gpus), plain(row.value, 3), "–", "–",
                            "–", std::string("not predicted: ") + error.what()});
    }
  }
  section.show(std::move(table));
  section.summary = fmt::format("{} rows printed, {} not predicted", printed, missing);
  return section;
}

}  // namespace tandem::bench
