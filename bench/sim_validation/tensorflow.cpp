// TensorFlow's benchmarks page of 2017: every row of more than one GPU is predicted from the one-GPU row of
// its system, model and batch; nothing else is fitted. Real-data rows are predicted from the synthetic one,
// too.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "bench/sim_validation/calibrate.h"
#include "bench/sim_validation/input.h"
#include "bench/sim_validation/sections.h"
#include "bench/sim_validation/tensorflow_host.h"
#include "graph/zoo.h"

namespace tandem::bench {
namespace {

constexpr double kMedianShare = 0.5, kWorst = 0.2;  // floors: of linear's median; of any row
constexpr int kSteps = 1000;                        // so that reading the first samples does not count

struct Prediction {
  double linear = 0, ours = 0;  // images a second
  std::string why_not{};        // empty: predicted
  bool calibration = false;
};

class Predictor {
 public:
  explicit Predictor(const std::vector<TensorFlowRow>& rows) : rows_(rows) {}

  Prediction predict(const TensorFlowRow& row) {
    Prediction out;
    try {
      if (!row.trouble.empty()) throw UserError(row.trouble);
      const TensorFlowRow& one = calibration_of(row);
      out.calibration = &one == &row;
      out.linear = one.rate * row.gpus;
      out.ours = row.batch * row.gpus / step_seconds(row, efficiency_of(one));
    } catch (const UserError& error) {
      out.why_not = error.what();
    }
    return out;
  }

  const std::set<std::string>& assumed() const { return assumed_; }

 private:
  // How little a one-GPU row has in common with the row that is predicted; none: it is of something else.
  static std::optional<int> distance(const TensorFlowRow& one, const TensorFlowRow& row) {
    if (one.gpus != 1 || !one.trouble.empty() || one.gpu != row.gpu || one.model != row.model ||
        one.batch != row.batch)
      return std::nullopt;
    return 4 * (one.system != row.system) + 2 * !one.synthetic() + (one.strategy != row.strategy);
  }

  const TensorFlowRow& calibration_of(const TensorFlowRow& row) {
    const TensorFlowRow* best = nullptr;
    for (const TensorFlowRow& one : rows_)
      if (const auto far = distance(one, row); far && (!best || *far < *distance(*best, row))) best = &one;
    if (!best)
      throw UserError(fmt::format("no one-GPU row of {} with batch {} on {}", row.model, row.batch, row.gpu));
    if (best != &row && *distance(*best, row) > 0)
      assumed_.insert(fmt::format(
          "{} {} {} batch {}: calibrated on the one-GPU row {} {} {}, as there is none of its own",
          row.system, row.strategy, row.model, row.batch, best->system, best->data, best->strategy));
    return *best;
  }

  double efficiency_of(const TensorFlowRow& one) {
    const auto known = efficiencies_.find(one.line);
    if (known != efficiencies_.end()) return known->second;
    const double found = efficiency_for(one.batch / one.rate,
                                        [&](double efficiency) { return step_seconds(one, efficiency); });
    return efficiencies_[one.line] = found;
  }

  const graph::Model& model_of(const TensorFlowRow& row) {
    const auto name = zoo_name(row.model);
    if (!name) throw UserError(fmt::format("the zoo has no model '{}'", row.model));
    auto& model = models_[*name];
    if (model.operations.empty()) model = graph::make(*name);
    return model;
  }

  double step_seconds(const TensorFlowRow& row, double efficiency) {
    const auto how = how_trained(row.strategy);
    if (!how) throw UserError(fmt::format("strategy '{}' is not known", row.strategy));
    Host host = host_of(row.system, row.gpu, row.strategy, row.gpus);
    assumed_.insert(host.assumed.begin(), host.assumed.end());
    device_of(host.cluster, host.device).efficiency =
        efficiency / (row.gpus > 1 ? 1 + host.slower_together : 1);
    spec::Workload workload;
    workload.name = fmt::format("line {}", row.line);
    workload.batch = row.batch;
    workload.strong = false;
    workload.iterations = std::int64_t{kSteps} * row.gpus;
    workload.sample_bytes = row.synthetic() ? 0 : kJpeg;
    workload.strategy = how->strategy;
    workload.variables_on_gpu = how->variables_on_gpu;
    workload.workers = row.gpus;
    workload.servers = servers_of(row.model, *how, host.cluster.node_count(), row.gpus);
    workload.device = host.device;
    sim::RunOptions options;
    options.strategy.bucket = 0;
    options.strategy.launch = how->launch;
    return sim::run_workload(host.cluster, workload, model_of(row), options).t_exec / kSteps;
  }

  const std::vector<TensorFlowRow>& rows_;
  std::map<std::size_t, double> efficiencies_;  // by line
  std::map<std::string, graph::Model> models_;
  std::set<std::string> assumed_;
};

std::vector<std::string> cells(const TensorFlowRow& row, const Prediction& prediction) {
  std::vector<std::string> out{row.system,
                               row.gpu,
                               row.data,
                               std::to_string(row.batch),
                               row.model,
                               row.strategy,
                               std::to_string(row.gpus),
                               short_number(row.rate)};
  if (!prediction.why_not.empty()) {
    out.insert(out.end(), {"–", "–", "–", "–",
                           fmt::format("not predicted (line {}): {}", row.line, prediction.why_not)});
    return out;
  }
  out.insert(out.end(), {short_number(prediction.linear), signed_percent(prediction.linear / row.rate - 1),
                         short_number(prediction.ours), signed_percent(prediction.ours / row.rate - 1),
                         prediction.calibration ? "calibration"
                         : row.gpus == 1        ? "one GPU"
                                                : ""});
  return out;
}

struct Tally {
  std::vector<double> linear{}, ours{};  // errors of rows with several GPUs
  std::vector<double> single{};          // of one-GPU rows that are predicted, too
  std::size_t calibrations = 0, missing = 0;

  void add(const TensorFlowRow& row, const Prediction& prediction) {
    if (!prediction.why_not.empty()) {
      ++missing;
    } else if (prediction.calibration) {
      ++calibrations;
    } else if (row.gpus == 1) {
      single.push_back(prediction.ours / row.rate - 1);
    } else {
      linear.push_back(prediction.linear / row.rate - 1);
      ours.push_back(prediction.ours / row.rate - 1);
    }
  }
};

void conclude(Section& section, const Tally& tally) {
  const Spread linear = spread(tally.linear), ours = spread(tally.ours), single = spread(tally.single);
  const bool held = ours.count > 0 && ours.median <= kMedianShare * linear.median &&
                    std::max(ours.worst, single.worst) <= kWorst;
  section.verdict = held ? Verdict::held : Verdict::missed;
  section.summary = fmt::format(
      "{} rows predicted, median {} (asked: at most {}, half of linear's), worst {} (asked: at most {}), "
      "linear {} and "
      "{}; one-GPU rows with real data: {}, worst {}; {} calibrated on, {} not predicted",
      ours.count, percent(ours.median, 2), percent(kMedianShare * linear.median, 2), percent(ours.worst),
      percent(kWorst, 0), percent(linear.median, 2), percent(linear.worst), single.count,
      percent(single.worst), tally.calibrations, tally.missing);
}

Table constants() {
  const auto dgx = ready_cluster("dgx-1"), cloud = ready_cluster("k80-cloud");
  const auto gb = [](double bytes) { return fmt::format("{:.4g} GB/s", bytes / 1e9); };
  return {
      "Constants (◆: chosen with the visible rows of several GPUs in sight, docs/validation-study.md A.3)",
      {"what", "value"},
      {{"PCIe uplink of a DGX-1, shared by 2 GPUs", gb(dgx.types[0].pcie)},
       {"PCIe uplink of a K80 host, shared by 4 dies ◆", gb(cloud.types[0].pcie)},
       {"NVLink, each way in the ring", gb(dgx.types[0].nvlink)},
       {"Ethernet of the distributed runs", gb(cloud.network.bandwidth)},
       {"K80, several dies at work ◆", signed_percent(kBoardMates) + " computing"},
       {"starting NCCL's collectives ◆",
        fmt::format("{:.0f} ms a step and GPU after the first", 1e3 * kNcclLaunch)},
       {"interference of collectives and computing ◆", plain(sim::StrategyOptions{}.interference, 1)},
       {"decoded images to the GPUs of a host ◆", gb(kFeed)},
       {"SSD; a JPEG; decoding",
        fmt::format("{}; {:.0f} kB; {:.0f} images a second and core", gb(kSsd), kJpeg / 1e3, kDecoded)}}};
}

}  // namespace

Section tensorflow_section(const std::string& data) {
  Section section{"TensorFlow 2017"};
  const auto rows = read_tensorflow(data);
  if (!rows) {
    section.summary = "there is no published/tensorflow-2017-images-per-second.csv";
    section.verdict = Verdict::absent;
    return section;
  }
  section.say(
      "Images a second. All rows are simulated operation by operation. Each system, model and batch is "
      "calibrated on "
      "its synthetic one-GPU row (the GPU's efficiency, nothing else); all others, real data included, are "
      "predicted.");
  Predictor predictor(*rows);
  Table table{"",
              {"system", "GPU", "data", "batch", "model", "strategy", "GPUs", "measured", "linear", "error",
               "ours", "error", "note"}};
  Tally tally;
  for (const TensorFlowRow& row : *rows) {
    const Prediction prediction = predictor.predict(row);
    tally.add(row, prediction);
    table.rows.push_back(cells(row, prediction));
  }
  section.show(std::move(table));
  section.show(constants());
  std::string assumed = "Assumed:";
  for (const auto& line : predictor.assumed()) assumed += " " + line + ";";
  section.say(predictor.assumed().empty() ? "Assumed beyond these constants: nothing." : assumed);
  conclude(section, tally);
  return section;
}

}  // namespace tandem::bench
