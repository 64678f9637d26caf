// Horovod's scaling efficiencies: ring all-reduce over all GPUs, simulated operation by operation, with one
// stated constant for bandwidth. Computing is known from TensorFlow's one-GPU rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <regex>

#include "base/error.h"
#include "bench/sim_validation/calibrate.h"
#include "bench/sim_validation/input.h"
#include "bench/sim_validation/sections.h"
#include "bench/sim_validation/tensorflow_host.h"
#include "graph/zoo.h"

namespace tandem::bench {
namespace {

constexpr double kPoints = 0.08;     // floor: off by at most so much
constexpr double kWireShare = 0.96;  // the one constant: of a cable's nominal bandwidth, what a ring gets
constexpr double kStraggler =
    0.015;                  // standard deviation of GPUs' step times, in the column that is not judged
constexpr int kBatch = 64;  // of each GPU

struct Machines {
  int nodes = 0, gpus = 0;  // gpus: of each node
  double cable = 0;         // bytes a second, nominal
};

// "128x4 Pascal 25Gb/s RoCE".
Machines machines_of(const ScalingRow& row) {
  static const std::regex shape(R"((\d{1,6})\s*x\s*(\d{1,4}))"), speed(R"((\d{1,5}(?:\.\d{1,3})?)\s*Gb/s)");
  std::smatch counts, rate;
  if (!std::regex_search(row.hardware, counts, shape) || !std::regex_search(row.hardware, rate, speed))
    throw UserError(fmt::format("'{}' does not say nodes x GPUs and Gb/s", row.hardware));
  const Machines out{std::stoi(counts[1]), std::stoi(counts[2]), std::stod(rate[1]) * 1e9 / 8};
  if (out.nodes * out.gpus < row.gpus || out.gpus < 1)
    throw UserError(fmt::format("'{}' has fewer than {} GPUs", row.hardware, row.gpus));
  return out;
}

// Seconds an image takes on a P100, from TensorFlow's rows. A model that is not there lies between its
// smaller and its larger sister (resnet101: resnet50 and resnet152), by multiply-adds.
class OneGpu {
 public:
  explicit OneGpu(const std::vector<TensorFlowRow>& rows) {
    for (const TensorFlowRow& row : rows)
      if (const auto name = zoo_name(row.model); row.trouble.empty() && name && row.gpus == 1 &&
                                                 row.synthetic() && row.gpu == "P100" && row.batch == kBatch)
        known_.push_back({*name, graph::multiply_adds(graph::make(*name)), 1 / row.rate});
  }

  double seconds(const graph::Model& model, std::string& how) const {
    const Known *below = nullptr, *above = nullptr;
    const double work = graph::multiply_adds(model);
    for (const Known& each : known_) {
      if (each.model == model.name) {
        how = "measured";
        return each.seconds;
      }
      if (family(each.model) != family(model.name)) continue;
      if (each.work < work && (!below || each.work > below->work)) below = &each;
      if (each.work > work && (!above || each.work < above->work)) above = &each;
    }
    if (!below || !above)
      throw UserError(fmt::format("no one-GPU row of {} on a P100 with batch {}, nor of its sisters",
                                  model.name, kBatch));
    how = fmt::format("between {} and {}", below->model, above->model);
    return below->seconds +
           (above->seconds - below->seconds) * (work - below->work) / (above->work - below->work);
  }

 private:
  struct Known {
    std::string model;
    double work, seconds;
  };
  static std::string family(const std::string& model) {
    return model.substr(0, model.find_first_of("0123456789"));
  }
  std::vector<Known> known_;
};

struct Question {
  const graph::Model& model;
  Machines machines;
  double efficiency = 0;
  double wire_share = kWireShare;
  double straggler = 0;
};

double step_seconds(const Question& question, int workers) {
  spec::Cluster cluster = ready_cluster("dgx-1");
  spec::DeviceType& gpu = device_of(cluster, "P100");
  calibrated_only(gpu);
  gpu.efficiency = question.efficiency;
  spec::NodeType& type = cluster.types.front();
  for (auto& part : type.devices)
    if (part.device == gpu.name) part.count = question.machines.gpus;
  type.gpus_an_uplink = 2;
  type.nvlink = 0;
  cluster.nodes.front().count = question.machines.nodes;
  cluster.network = {.kind = "star", .bandwidth = question.wire_share * question.machines.cable};
  spec::Workload workload;
  workload.name = question.model.name;
  workload.batch = kBatch;
  workload.strong = false;
  const std::int64_t steps = question.straggler > 0 ? sim::kDraws : 1;
  workload.iterations = steps * workers;
  workload.strategy = "all-reduce";
  workload.workers = workers;
  workload.device = gpu.name;
  workload.straggler = question.straggler;
  sim::RunOptions options;
  options.strategy.bucket = 0;
  return sim::run_workload(cluster, workload, question.model, options).t_exec / static_cast<double>(steps);
}

double scaling(Question question, int gpus, double wire_share, double straggler) {
  question.straggler = 0;
  const double alone = step_seconds(question, 1);
  question.wire_share = wire_share;
  question.straggler = straggler;
  return alone / step_seconds(question, gpus);
}

// Published, ours; with what it depends on.
std::vector<std::string> predict(const ScalingRow& row, const OneGpu& one_gpu, std::vector<double>& errors) {
  const auto name = zoo_name(row.model);
  if (!name) throw UserError(fmt::format("the zoo has no model '{}'", row.model));
  const graph::Model model = graph::make(*name);
  Question question{model, machines_of(row)};
  std::string how;
  const double target = kBatch * one_gpu.seconds(model, how);
  question.efficiency = efficiency_for(target, [&](double efficiency) {
    question.efficiency = efficiency;
    return step_seconds(question, 1);
  });
  const double ours = scaling(question, row.gpus, kWireShare, 0);
  errors.push_back(ours - row.value);
  return {row.model,
          row.hardware,
          std::to_string(row.gpus),
          plain(row.value, 2),
          plain(ours, 3),
          fmt::format("{:+.1f}", 100 * (ours - row.value)),
          plain(scaling(question, row.gpus, kWireShare, kStraggler), 3),
          plain(scaling(question, row.gpus, 0.8, 0), 3),
          plain(scaling(question, row.gpus, 1, 0), 3),
          fmt::format("{:.1f} images/s, {}", kBatch / target, how)};
}

}  // namespace

Section horovod_section(const std::string& data) {
  Section section{"Horovod"};
  const auto rows = read_scaling(data);
  const auto alone = read_tensorflow(data);
  if (!rows || !alone) {
    section.summary = "there is no published/horovod-mlperf.csv, or no TensorFlow rows to calibrate on";
    section.verdict = Verdict::absent;
    return section;
  }
  section.say(
      fmt::format("Scaling efficiency, batch {} a GPU, simulated operation by operation: all GPUs in one "
                  "ring, layer by layer behind "
                  "the backward pass. The one constant: a ring gets {} of a cable's bandwidth. Not judged: "
                  "the same with GPUs whose "
                  "steps differ by {} at random, and with other shares of the bandwidth.",
                  kBatch, percent(kWireShare, 0), percent(kStraggler)));
  Table table{"",
              {"model", "hardware", "GPUs", "published", "ours", "points", "stragglers", "80 % wire",
               "100 % wire", "one GPU"}};
  const OneGpu one_gpu(*alone);
  std::vector<double> errors;
  std::size_t missing = 0;
  for (const ScalingRow& row : *rows) {
    if (row.source.find("mlperf") != std::string::npos) continue;  // its own section
    try {
      if (!row.trouble.empty()) throw UserError(row.trouble);
      if (row.metric != "scaling_efficiency")
        throw UserError(fmt::format("metric '{}' is not known", row.metric));
      table.rows.push_back(predict(row, one_gpu, errors));
    } catch (const UserError& error) {
      ++missing;
      table.rows.push_back({row.model, row.hardware, std::to_string(row.gpus), plain(row.value, 2), "–", "–",
                            "–", "–", "–", std::string("not predicted: ") + error.what()});
    }
  }
  section.show(std::move(table));
  const Spread off = spread(errors);
  section.verdict = off.count > 0 && off.worst <= kPoints ? Verdict::held : Verdict::missed;
  section.summary = fmt::format("{} rows, off by at most {:.1f} points (asked: {:.0f}); {} not predicted",
                                off.count, 100 * off.worst, 100 * kPoints, missing);
  return section;
}

}  // namespace tandem::bench
