#include "place/policy/heats_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tandem::place {
namespace {

void check_measured(std::size_t types, const HeatsModelOptions& options, std::uint32_t type,
                    const TaskFeatures& task) {
  if (type >= types) throw UserError(fmt::format("there is no machine type {} to predict for", type));
  if (task.family >= options.families)
    throw UserError(
        fmt::format("there is no task family {}: the model has {}", task.family, options.families));
  if (!(task.work > 0) || !(task.cores > 0) || !(task.clock > 0) || task.memory < 0)
    throw UserError("a task's work, cores and clock must be above 0 for its time to be predicted");
}

double relative(double predicted, double truth) {
  return std::abs(predicted - truth) / truth;
}

}  // namespace

HeatsModel::HeatsModel(std::size_t types, HeatsModelOptions options)
    : options_(std::move(options)), machines_(types) {
  stats::make_regression(options_.regression, columns());  // a wrong name is told now
  if (options_.families < 1) throw UserError("a model of tasks needs at least one family");
}

// As `features` fills them.
std::vector<std::string> HeatsModel::columns() const {
  if (options_.features == HeatsModelOptions::Features::cores_and_memory) return {"cores", "memory"};
  std::vector<std::string> out{"log work", "log cores", "memory"};
  for (std::size_t i = 0; i < options_.families; ++i) {
    out.push_back(fmt::format("family {}", i));
    out.push_back(fmt::format("log clock of family {}", i));
  }
  return out;
}

// Constants of each family and how it scales with the clock are columns of its own: families differ in how
// much they wait for memory.
std::vector<double> HeatsModel::features(const TaskFeatures& task) const {
  if (options_.features == HeatsModelOptions::Features::cores_and_memory) return {task.cores, task.memory};
  std::vector<double> row{std::log(task.work), std::log(task.cores), task.memory};
  row.resize(3 + 2 * options_.families, 0.0);
  row[3 + 2 * task.family] = 1;
  row[4 + 2 * task.family] = std::log(task.clock);
  return row;
}

void HeatsModel::learn(std::uint32_t type, const TaskFeatures& task, const Prediction& measured) {
  check_measured(machines_.size(), options_, type, task);
  if (!(measured.seconds > 0) || !(measured.joules > 0))
    throw UserError("a probing task took no time or no energy: it cannot be learnt from");
  machines_[type].rows.push_back({task, measured, 0, 0, type});
}

void HeatsModel::fit() {
  for (auto& machine : machines_)
    if (!machine.rows.empty()) fit(machine);
}

void HeatsModel::fit(Machine& machine) const {
  const bool plain = options_.features == HeatsModelOptions::Features::cores_and_memory;
  std::vector<double> rows, seconds, joules;
  for (const auto& row : machine.rows) {
    const auto values = features(row.task);
    rows.insert(rows.end(), values.begin(), values.end());
    seconds.push_back(plain ? row.truth.seconds : std::log(row.truth.seconds / row.task.work));
    joules.push_back(plain ? row.truth.joules : std::log(row.truth.joules / row.task.work));
  }
  machine.seconds = stats::make_regression(options_.regression, columns());
  machine.joules = stats::make_regression(options_.regression, columns());
  machine.seconds->fit(rows, seconds);
  machine.joules->fit(rows, joules);
}

Prediction HeatsModel::predict(std::uint32_t type, const TaskFeatures& task) const {
  check_measured(machines_.size(), options_, type, task);
  const Machine& machine = machines_[type];
  if (!machine.seconds)
    throw UserError(fmt::format("nothing was learnt of machine type {} yet: probe it first", type));
  const auto row = features(task);
  const double seconds = machine.seconds->predict(row), joules = machine.joules->predict(row);
  if (options_.features == HeatsModelOptions::Features::cores_and_memory) return {seconds, joules};
  return {task.work * std::exp(seconds), task.work * std::exp(joules)};
}

void HeatsModel::observe(std::uint32_t type, const TaskFeatures& task, const Prediction& truth, double now) {
  const Prediction said = predict(type, task);
  if (!(truth.seconds > 0) || !(truth.joules > 0)) return;  // ended at once: there is nothing to learn
  const double error = std::max(relative(said.seconds, truth.seconds), relative(said.joules, truth.joules));
  ended_.push_back({task, truth, now, error, type});
}

bool HeatsModel::same_cell(const Row& a, const Row& b) const {
  return a.task.family == b.task.family && a.task.clock == b.task.clock;
}

std::size_t HeatsModel::maintain(double now) {
  if (now - maintained_ < options_.every) return 0;
  maintained_ = now;
  std::erase_if(ended_,
                [&](const Row& row) { return row.error <= options_.well || row.at < now - options_.window; });
  std::vector<bool> changed(machines_.size(), false);
  for (const Row& row : ended_) {
    auto& rows = machines_[row.type].rows;
    const auto alike = [&](const Row& other) { return other.type == row.type && same_cell(other, row); };
    if (static_cast<std::size_t>(std::count_if(ended_.begin(), ended_.end(), alike)) >= kFewest)
      std::erase_if(rows, [&](const Row& old) { return old.at < row.at && old.error == 0 && alike(old); });
    rows.push_back(row);
    changed[row.type] = true;
  }
  const std::size_t added = ended_.size();
  ended_.clear();
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    for (auto& row : machines_[i].rows) row.error = 0;  // from now on an older row like any other
    if (changed[i]) fit(machines_[i]);
  }
  return added;
}

const std::vector<ProbeTask>& probe_tasks() {
  static const std::vector<ProbeTask> table = {
      {"k-means", "clusters 65 536 points of 32 dimensions", "iterations", 200, 1250},
      {"matrix product", "multiplies square matrices", "multiplications", 200, 1250},
  };
  return table;
}

double probe(HeatsModel& model, Prober& prober, const ProbePlan& plan) {
  double took = 0;
  for (std::uint32_t type = 0; type < plan.clocks.size(); ++type)
    for (std::uint32_t family = 0; family < probe_tasks().size(); ++family)
      for (const double clock : plan.clocks[type])
        for (const double cores : plan.cores)
          for (const double memory : plan.memory)
            for (int work = 0; work < plan.works; ++work)
              for (int repeat = 0; repeat < plan.repeats; ++repeat) {
                const auto& task = probe_tasks()[family];
                const double at = plan.works > 1 ? static_cast<double>(work) / (plan.works - 1) : 0;
                const double amount = task.least_work * std::pow(task.most_work / task.least_work, at);
                const TaskFeatures features{family, std::round(amount), cores, memory, clock};
                const Prediction seen = prober.run(type, features, static_cast<std::uint64_t>(repeat));
                model.learn(type, features, seen);
                took += seen.seconds;
              }
  model.fit();
  return took;
}

}  // namespace tandem::place
