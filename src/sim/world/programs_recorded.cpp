#include "sim/world/programs_recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "stats/numeric/median.h"
#include "stats/training/speed_up.h"

namespace tandem::sim {
namespace {

constexpr double kShortest = 1e-6;

std::optional<double> middle_of_others(const std::vector<double>& values, const double* left_out) {
  std::vector<double> others;
  for (const double& value : values)
    if (&value != left_out) others.push_back(value);
  if (others.empty()) return std::nullopt;
  return stats::median(std::move(others));
}

bool first_of_process(const TaskView& task, std::size_t index) {
  return index == 0 || task.epochs[index].attempt != task.epochs[index - 1].attempt;
}

const Values& hyper_of(const View& run, const TaskView& task) {
  return task.trial ? task.trial->hyper : run.jobs[static_cast<std::size_t>(task.job)].base().hyper;
}

// The program's own, not the machine's or Tandem's.
bool gave_up(const TaskView& task) {
  return task.state == TaskState::failed && task.last_failure && task.last_failure->failure != Failure::lost;
}

// 0: the same; 1: as different as can be.
double difference(const Value& a, const Value& b) {
  const auto x = as_number(a), y = as_number(b);
  if (!x || !y || *x <= 0 || *y <= 0) return a == b ? 0 : 1;
  return std::min(std::abs(std::log10(*x / *y)), 1.0);
}

double unlikeness(const Values& a, const Values& b) {
  double sum = 0;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    sum += other == b.end() ? 1 : difference(value, other->second);
  }
  for (const auto& [name, value] : b) sum += a.contains(name) ? 0 : 1;
  return sum;
}

}  // namespace

// ---- what the run tells ----

RecordedPrograms::RecordedPrograms(const View& run, bool keeps_checkpoints)
    : keeps_checkpoints_(keeps_checkpoints) {
  std::map<std::pair<JobId, std::int32_t>, std::size_t> sorted;  // works of the run's tuners
  std::vector<double> startups, endings;
  for (const auto& task : run.tasks) {
    if (task.epochs.empty() && !gave_up(task)) continue;
    const Values& hyper = hyper_of(run, task);
    std::size_t workload = workloads_.size();
    if (const auto known = points_.find(hyper); known != points_.end())
      workload = known->second.workload;
    else if (task.workload >= 0)
      workload = sorted.emplace(std::pair(task.job, task.workload), workload).first->second;
    if (workload == workloads_.size()) workloads_.emplace_back();
    add(task, hyper, workload);
    for (std::size_t i = 0; i < task.epochs.size(); ++i)
      if (first_of_process(task, i)) startups.push_back(task.epochs[i].startup.value);
    if (task.state == TaskState::ended && !task.epochs.empty())
      endings.push_back(std::max((task.ended_at - task.epochs.back().at).value, 0.0));
  }
  if (observed_.empty())
    throw UserError("the run has no epoch to go by; replay one that has reported at least one");
  startup_.value = stats::median(std::move(startups));
  // Those that were held before they ended took longer.
  if (!endings.empty()) ending_.value = *std::min_element(endings.begin(), endings.end());
}

void RecordedPrograms::add(const TaskView& task, const Values& hyper, std::size_t workload) {
  Point& point = points_.try_emplace(hyper).first->second;
  point.workload = workload;
  for (std::size_t i = 0; i < task.epochs.size(); ++i) {
    const EpochRecord& record = task.epochs[i];
    point.epochs.try_emplace(record.epoch, Recorded{record.metrics, record.profile.rates,
                                                    record.granted.cores, record.granted.speed});
    observe(task, i, workload);
  }
  if (gave_up(task)) point.failed = task.last_failure;
}

std::size_t RecordedPrograms::configuration_of(WorkloadClass& workload, const Resources& system) {
  auto& all = workload.configurations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Configuration& one) {
    return one.cores == system.cores && one.speed == system.speed;
  });
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back({.cores = system.cores, .speed = system.speed});
  return all.size() - 1;
}

void RecordedPrograms::observe(const TaskView& task, std::size_t index, std::size_t workload) {
  const EpochRecord& record = task.epochs[index];
  const std::size_t number = configuration_of(workloads_[workload], record.granted);
  Configuration& configuration = workloads_[workload].configurations[number];
  const bool first = first_of_process(task, index);
  const double working = std::max(record.working().value, kShortest);
  auto& times = first ? configuration.first : configuration.later;
  observed_.push_back({task.id, record.epoch, workload, number, times.size(), first});
  times.push_back(working);
  if (!record.profile.rates.empty()) configuration.rates = record.profile.rates;
  if (!record.energy) return;
  // The start-up's share of the energy is taken to be its share of the time.
  configuration.joules +=
      record.energy->joules.value * std::min(working / std::max(record.seconds.value, kShortest), 1.0);
  configuration.metered += working;
  configuration.source = record.energy->source;
}

// ---- times ----

// How long later epochs of a process take, of a first one: as the work showed, or else the others.
double RecordedPrograms::warmth(const WorkloadClass& workload, const double* left_out) const {
  std::vector<double> here, anywhere;
  for (const WorkloadClass& one : workloads_)
    for (const auto& configuration : one.configurations) {
      const auto first = middle_of_others(configuration.first, left_out);
      const auto later = middle_of_others(configuration.later, left_out);
      if (!first || !later) continue;
      anywhere.push_back(std::min(*later / *first, 1.0));
      if (&one == &workload) here.push_back(anywhere.back());
    }
  if (!here.empty()) return stats::median(std::move(here));
  return anywhere.empty() ? 1 : stats::median(std::move(anywhere));
}

std::optional<double> RecordedPrograms::seconds(const WorkloadClass& workload, int cores, double speed,
                                                bool first, const double* left_out) const {
  const double warm = warmth(workload, left_out);
  if (const auto* configuration = seen(workload, {cores, 0, speed})) {
    const auto firsts = middle_of_others(configuration->first, left_out);
    const auto laters = middle_of_others(configuration->later, left_out);
    if (first && firsts) return firsts;
    if (first && laters) return *laters / warm;
    if (laters) return laters;
    if (firsts) return *firsts * warm;
  }
  const auto later = predicted(workload, cores, speed, warm, left_out);
  if (!later) return std::nullopt;
  return first ? *later / warm : *later;
}

// Of a later epoch.
std::optional<double> RecordedPrograms::predicted(const WorkloadClass& workload, int cores, double speed,
                                                  double warm, const double* left_out) const {
  std::vector<std::pair<int, double>> measured;  // at full speed
  for (const auto& configuration : workload.configurations) {
    auto time = middle_of_others(configuration.later, left_out);
    if (!time)
      if (const auto first = middle_of_others(configuration.first, left_out)) time = warm * *first;
    if (time) measured.emplace_back(configuration.cores, *time * configuration.speed);
  }
  if (measured.empty()) return std::nullopt;
  return std::max(stats::fit_speed_up(measured).seconds(cores), kShortest) / speed;
}

const RecordedPrograms::Configuration* RecordedPrograms::seen(const WorkloadClass& workload,
                                                              const Resources& system) const {
  for (const auto& one : workload.configurations)
    if (one.cores == system.cores && one.speed == system.speed) return &one;
  return nullptr;
}

// ---- answers ----

// The nearest the run had: of its batch size first, because that decides what an epoch costs.
const RecordedPrograms::Point& RecordedPrograms::point_of(const Values& hyper) {
  if (const auto found = points_.find(hyper); found != points_.end()) return found->second;
  ++guesses_.points;
  const double batch = batch_among(hyper);
  const auto farness = [&](const Values& other) {
    const double others = batch_among(other);
    const double apart = batch > 0 && others > 0 ? std::abs(std::log(others / batch)) : 0;
    return std::tuple(apart, unlikeness(hyper, other));
  };
  const auto nearest = std::min_element(points_.begin(), points_.end(), [&](const auto& a, const auto& b) {
    return farness(a.first) < farness(b.first);
  });
  return nearest->second;
}

ProgramStart RecordedPrograms::start(const ProgramRun&) {
  return {.startup = startup_, .keeps_checkpoints = keeps_checkpoints_, .ending = ending_};
}

ProgramEpoch RecordedPrograms::epoch(const ProgramRun& run, std::int64_t number, bool first) {
  ++guesses_.epochs;
  const Point& point = point_of(run.hyper);
  const WorkloadClass& workload = workloads_[point.workload];
  const auto* configuration = seen(workload, run.granted);
  if (!configuration) ++guesses_.configurations;
  ProgramEpoch epoch;
  epoch.seconds.value = seconds(workload, run.granted.cores, run.granted.speed, first, nullptr).value_or(0);
  if (configuration && configuration->metered > 0)
    epoch.energy = Energy{Joules{configuration->joules / configuration->metered * epoch.seconds.value},
                          fmt::format("recorded ({})", configuration->source)};

  const std::int64_t last = point.epochs.empty() ? 0 : point.epochs.rbegin()->first;
  if (point.failed && number > last) {
    epoch.then = ProgramEpoch::Then::fails;
    epoch.failure = point.failed->failure;
    epoch.detail = point.failed->detail;
    return epoch;
  }
  auto recorded = point.epochs.find(number);
  if (recorded == point.epochs.end()) {
    ++guesses_.beyond;
    recorded = point.epochs.upper_bound(number);
    if (recorded != point.epochs.begin()) --recorded;
  }
  if (recorded == point.epochs.end()) return epoch;
  const Recorded& was = recorded->second;
  epoch.metrics = was.metrics;
  const bool same = was.cores == run.granted.cores && was.speed == run.granted.speed;
  epoch.rates = !same && configuration && !configuration->rates.empty() ? configuration->rates : was.rates;
  return epoch;
}

// ---- how good that is ----

std::vector<PredictedEpoch> RecordedPrograms::predictions() const {
  std::vector<PredictedEpoch> out;
  for (const auto& one : observed_) {
    const WorkloadClass& workload = workloads_[one.workload];
    const Configuration& configuration = workload.configurations[one.configuration];
    const double* measured = &(one.first ? configuration.first : configuration.later)[one.place];
    PredictedEpoch epoch{.task = one.task, .epoch = one.epoch, .measured = {*measured}};
    if (const auto guess = seconds(workload, configuration.cores, configuration.speed, one.first, measured))
      epoch.predicted = Seconds{*guess};
    out.push_back(epoch);
  }
  return out;
}

std::vector<TaskError> errors_by_task(const std::vector<PredictedEpoch>& epochs) {
  std::map<TaskId, TaskError> tasks;
  std::map<TaskId, std::vector<double>> off;
  for (const auto& epoch : epochs) {
    TaskError& task = tasks[epoch.task];
    task.task = epoch.task;
    ++task.epochs;
    if (!epoch.predicted) {
      ++task.unpredicted;
      continue;
    }
    task.measured += epoch.measured;
    task.predicted += *epoch.predicted;
    off[epoch.task].push_back(std::abs(*epoch.predicted / epoch.measured - 1));
  }
  std::vector<TaskError> out;
  for (auto& [id, task] : tasks) {
    if (const auto found = off.find(id); found != off.end()) task.median = stats::median(found->second);
    out.push_back(task);
  }
  return out;
}

}  // namespace tandem::sim
