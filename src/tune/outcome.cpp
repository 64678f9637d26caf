#include "tune/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "search/pareto.h"
#include "search/points.h"
#include "stats/numeric/median.h"
#include "tune/batches.h"
#include "tune/possible.h"
#include "tune/system_tuner.h"
#include "tune/tuning.h"

namespace tandem::tune {
namespace {

constexpr double kDoubt = 0.1;
// What is only expected must be better than what was seen by more than noise, and more cores by more than
// what reporting an epoch takes.
constexpr double kClearly = 0.95, kReporting = 0.005;

// The search wanted no more of it: others do better.
const char* cut_short(const TaskView& task) {
  return task.released && !task.epochs.empty() ? "pruned" : "stopped";
}

std::string trial_state(const TaskView& task, const JobView& job) {
  const bool over = job.state != JobState::running;
  switch (task.state) {
    case TaskState::failed:
      return over && task.last_failure && task.last_failure->failure == Failure::lost ? "stopped" : "failed";
    case TaskState::ended:
    case TaskState::stopping:
      if (!task.epochs.empty() && task.trial && task.reported() >= task.trial->epochs) return "finished";
      return !task.released && !over ? "held" : cut_short(task);
    case TaskState::waiting:
    case TaskState::held:
      return over || task.released ? cut_short(task) : name(task.state);
    default:
      return name(task.state);
  }
}

// What the search space has beside the spec's own parameters, and only one choice of.
std::set<std::string> with_one_choice(const spec::TuneJob& job, const View& view) {
  std::set<std::string> out;
  if (view.nodes.empty()) return out;
  for (const auto& parameter : search_space(job, largest_node(view)).parameters)
    if (parameter.domain.kind == spec::Domain::Kind::choice && parameter.domain.choices.size() == 1)
      out.insert(parameter.name);
  for (const auto& written : job.hyper.parameters) out.erase(written.name);
  return out;
}

Values without(const std::set<std::string>& names, Values point) {
  std::erase_if(point, [&](const auto& item) { return names.contains(item.first); });
  return point;
}

void note_reached(Outcome& out, const spec::Objective& objective, const TaskView& task) {
  for (const auto& record : task.epochs)
    for (const auto& goal : objective.goals) {
      const auto found = record.metrics.find(goal.metric);
      if (found == record.metrics.end() || unit_of(objective, goal)[0] != '\0') continue;
      const Reached now{found->second, task.id, record.epoch};
      const auto [best, first] = out.reached.emplace(goal.metric, now);
      if (!first && (goal.maximise ? now.value > best->second.value : now.value < best->second.value))
        best->second = now;
    }
}

TrialOutcome trial_outcome(const spec::TuneJob& tune, const JobView& job, const TaskView& task,
                           const TimePrice& price, const std::set<std::string>& fixed) {
  TrialOutcome out{.task = task.id,
                   .hyper = without(fixed, task.trial->point),
                   .state = trial_state(task, job),
                   .reason = task.release_reason,
                   .afterwards = {},
                   .epochs = static_cast<std::int64_t>(task.epochs.size()),
                   .joules = task.joules(),
                   .system = task.granted,
                   .workload = task.workload,
                   .bracket = task.trial->bracket,
                   .rung = task.trial->rung};
  if (out.state == "failed" && task.last_failure)
    out.reason = fmt::format("{}: {}", name(task.last_failure->failure), task.last_failure->detail);
  if (task.failed_afterwards())
    out.afterwards = fmt::format("{}: {}", name(task.last_failure->failure), task.last_failure->detail);
  if (!task.epochs.empty()) out.train_time = trained_until(task, task.epochs.size() - 1);
  for (std::size_t i = 0; i < task.epochs.size(); ++i) {
    const auto values = goal_values(tune.objective, task, i, price);
    if (!values) continue;
    const auto loss = losses(tune, *values, task, i);
    if (!out.losses.empty() && !(loss.front() < out.losses.front())) continue;
    out.losses = loss;
    out.goals = *values;
    out.best_epoch = task.epochs[i].epoch;
    out.best_after = trained_until(task, i);
    out.metrics = task.epochs[i].metrics;
  }
  return out;
}

void choose_best(Outcome& out) {
  std::vector<search::Losses> all;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < out.trials.size(); ++i)
    if (!out.trials[i].losses.empty()) {
      all.push_back(out.trials[i].losses);
      index.push_back(i);
    }
  if (all.empty()) return;
  for (std::size_t i : search::front(all)) out.front.push_back(index[i]);
  std::stable_sort(out.front.begin(), out.front.end(), [&](std::size_t a, std::size_t b) {
    return out.trials[a].losses.front() < out.trials[b].losses.front();
  });
  out.best = out.front.front();
}

void rank_by_energy_and_time(std::vector<ConfigOutcome>& configs) {
  std::vector<search::Losses> known;
  for (const auto& config : configs)
    if (config.joules) known.push_back({config.seconds, *config.joules});
  const auto ranks = search::ranks(known);
  std::size_t next = 0;
  for (auto& config : configs)
    if (config.joules) config.rank = ranks[next++];
}

std::string config_text(const Resources& system) {
  Resources shown = system;
  shown.memory = 0;
  return text(shown);
}

// What an epoch of the best trial would take in configurations it was not seen in: as an earlier job measured
// them, or as works of other batch sizes show.
std::vector<ConfigOutcome> expected_elsewhere(const Outcome& out, const View& view,
                                              const std::vector<std::vector<ConfigOutcome>>& workloads) {
  const auto& best = view.tasks[static_cast<std::size_t>(out.trials[*out.best].task)];
  std::vector<ConfigOutcome> found;
  const auto add = [&](const Resources& system, double seconds) {
    const auto same = [&](const ConfigOutcome& c) { return same_speed(c.system, system); };
    if (std::none_of(out.best_workload.begin(), out.best_workload.end(), same) &&
        std::none_of(found.begin(), found.end(), same))
      found.push_back({.system = system, .seconds = seconds});
  };
  if (best.phase == Phase::reusing)
    for (const auto& option : best.options) add(option.resources, option.seconds);
  if (out.best_workload.empty()) return found;
  std::map<std::int32_t, double> batches;
  std::vector<Resources> systems;
  for (const auto& task : view.tasks)
    if (task.job == best.job && task.trial && task.workload >= 0)
      batches.emplace(task.workload, batch_of(task.trial->hyper));
  for (const auto& workload : workloads)
    for (const auto& config : workload)
      if (std::none_of(systems.begin(), systems.end(),
                       [&](const Resources& known) { return same_speed(known, config.system); }))
        systems.push_back(config.system);
  const auto in = [](const std::vector<ConfigOutcome>& workload, const Resources& system) {
    return std::find_if(workload.begin(), workload.end(),
                        [&](const ConfigOutcome& c) { return same_speed(c.system, system); });
  };
  const auto& reference = out.best_workload.front();
  for (const auto& system : systems) {
    std::vector<BatchSeen> seen;
    for (const auto& [number, batch] : batches) {
      const auto& workload = workloads[static_cast<std::size_t>(number)];
      const auto base = in(workload, reference.system), there = in(workload, system);
      if (base == workload.end()) continue;
      seen.push_back({batch, base->seconds, std::nullopt});
      if (there != workload.end()) seen.back().there = there->seconds;
    }
    if (const auto ratio = expected_ratio(batch_of(best.trial->hyper), seen, least_ratio(reference.system, system)))
      add(system, *ratio * reference.seconds);
  }
  return found;
}

// The configuration to train the best trial in, when it is alone.
void choose_system(Outcome& out, const spec::TuneJob& job, const View& view,
                   const std::vector<std::vector<ConfigOutcome>>& workloads) {
  const TrialOutcome& best = out.trials[*out.best];
  out.best_system = best.system;
  if (job.mode != spec::Mode::pipelined) {
    out.system_confidence = job.mode == spec::Mode::hyper ? "fixed, not tuned" : "part of the search";
    return;
  }
  const auto& weights = job.objective.cost;
  const bool energy = weights || has_goal(job.objective, "energy"),
             time = has_goal(job.objective, "train_time");
  // What was seen in few epochs must be better by more than what few epochs can be off.
  const auto cost = [&](const ConfigOutcome& c) {
    const double doubt = 1 + kDoubt / std::sqrt(static_cast<double>(std::max<std::int64_t>(c.epochs, 1)));
    if (weights && c.joules)
      return doubt * cost_of(*weights, Joules{*c.joules}, Seconds{c.seconds}, out.price.watts).value;
    return doubt * (energy ? c.joules.value_or(c.seconds) * (time ? c.seconds : 1) : c.seconds);
  };
  std::optional<ConfigOutcome> chosen;
  std::string seen;
  for (const auto& config : out.best_workload) {
    if (!chosen || cost(config) < cost(*chosen) - (energy ? 0 : kReporting)) chosen = config;
    seen +=
        fmt::format("{}{} {:.3g} s{}", seen.empty() ? "measured an epoch: " : ", ",
                    config_text(config.system), config.seconds,
                    config.epochs > 1 ? fmt::format(" ± {:.2g} over {} epochs", config.spread, config.epochs)
                                      : " in one epoch");
    if (config.scaled) seen += " (first epochs, scaled)";
  }
  std::set<int> known;
  for (const auto& config : out.best_workload) known.insert(config.system.cores);
  if (!energy)
    for (const auto& config : expected_elsewhere(out, view, workloads)) {
      known.insert(config.system.cores);
      seen += fmt::format("{}expected: {} {:.3g} s", seen.empty() ? "" : "; ", config_text(config.system),
                          config.seconds);
      if (!chosen || config.seconds < kClearly * chosen->seconds - kReporting) chosen = config;
    }
  if (chosen) {
    out.best_system = chosen->system;
    out.best_system.memory = best.system.memory;
  }
  std::string missing;
  for (int choice : job.system.cores)
    if (!known.contains(choice) && choice <= view.nodes.front().capacity.cores)
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", choice);
  out.system_confidence = seen.empty() ? "nothing measured" : seen;
  if (!missing.empty()) out.system_confidence += fmt::format("; not measured: {} cores", missing);
}

}  // namespace

namespace {

// Epochs of one workload class in one configuration; the first ones of their processes apart
// (workload_class.h says why).
struct Epochs {
  std::vector<const EpochRecord*> first, later;

  static double median_seconds(const std::vector<const EpochRecord*>& records) {
    std::vector<double> seconds;
    for (const auto* record : records) seconds.push_back(record->working().value);
    return stats::median(std::move(seconds));
  }
  std::optional<double> warmth() const {
    if (first.empty() || later.empty() || median_seconds(first) < kTelling) return std::nullopt;
    return std::min(median_seconds(later) / median_seconds(first), 1.0);
  }
  ConfigOutcome outcome(double warmth) const {
    const auto& records = later.empty() ? first : later;
    const double scale = later.empty() ? warmth : 1;
    ConfigOutcome out{.system = records.back()->granted,
                      .seconds = scale * median_seconds(records),
                      .epochs = static_cast<std::int64_t>(records.size()),
                      .scaled = scale != 1};
    std::vector<double> off, joules;
    for (const auto* record : records) {
      off.push_back(std::fabs(scale * record->working().value - out.seconds));
      if (const auto used = record->working_energy()) joules.push_back(scale * used->value);
    }
    out.spread = stats::median(std::move(off));
    if (!joules.empty()) out.joules = stats::median(std::move(joules));
    return out;
  }
};

}  // namespace

std::vector<std::vector<ConfigOutcome>> work_outcomes(const View& view, JobId id) {
  std::vector<std::map<decltype(speed_key({})), Epochs>> workloads;
  for (const auto& task : view.tasks) {
    if (task.job != id || task.workload < 0) continue;
    if (static_cast<std::size_t>(task.workload) >= workloads.size())
      workloads.resize(static_cast<std::size_t>(task.workload) + 1);
    for (std::size_t i = 0; i < task.epochs.size(); ++i) {
      if (task.epochs[i].mixed) continue;  // of no one configuration
      auto& epochs = workloads[static_cast<std::size_t>(task.workload)][speed_key(task.epochs[i].granted)];
      (first_of_process(task, i) ? epochs.first : epochs.later).push_back(&task.epochs[i]);
    }
  }
  std::vector<double> warmths;
  for (const auto& workload : workloads)
    for (const auto& [key, epochs] : workload)
      if (const auto warmth = epochs.warmth()) warmths.push_back(*warmth);
  const double warmth = warmths.empty() ? 1 : stats::median(std::move(warmths));
  std::vector<std::vector<ConfigOutcome>> out;
  for (const auto& workload : workloads) {
    auto& list = out.emplace_back();
    for (const auto& [key, epochs] : workload) list.push_back(epochs.outcome(warmth));
  }
  return out;
}

Values searched_part(const spec::TuneJob& job, const View& view, Values point) {
  return without(with_one_choice(job, view), std::move(point));
}

const char* trial_states() {
  return "finished: it ran all its epochs; pruned: the search ended it early, others do better; stopped: a person "
         "or a limit ended the job first; failed: its program did; held: it waits for others of its rung; running; "
         "waiting";
}

Outcome outcome(const View& view, JobId id) {
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  const auto& tune = *job.as<spec::TuneJob>();
  Outcome out;
  out.tuning = job.active;
  out.price = price_of_time(view, job);
  std::vector<std::tuple<double, const TaskView*, const EpochRecord*>> epochs;
  std::set<std::int32_t> reused;
  const auto fixed = with_one_choice(tune, view);
  for (const auto& task : view.tasks) {
    if (task.job != id || !task.trial) continue;
    out.trials.push_back(trial_outcome(tune, job, task, out.price, fixed));
    note_reached(out, tune.objective, task);
    out.failed += out.trials.back().state == "failed";
    out.failed_afterwards += !out.trials.back().afterwards.empty();
    out.joules += task.joules();
    if (!task.energy_source.empty()) out.energy_source = task.energy_source;
    out.energy_complete &= task.energy_complete;
    add_parts(out.energy_parts, task.energy_parts());
    out.epochs_total += static_cast<std::int64_t>(task.epochs.size());
    for (const auto& record : task.epochs) {
      epochs.emplace_back(record.at.value, &task, &record);
      if (record.phase == Phase::reusing) reused.insert(task.workload);
    }
    if (task.phase == Phase::reusing) reused.insert(task.workload);
  }
  out.reused_profiles = static_cast<std::int64_t>(reused.size());
  // An epoch probed when it was the first of its work in a configuration other than the first seen.
  std::sort(epochs.begin(), epochs.end(), [](const auto& a, const auto& b) {
    return std::tuple(std::get<0>(a), std::get<1>(a)->id) < std::tuple(std::get<0>(b), std::get<1>(b)->id);
  });
  std::map<std::int32_t, std::set<decltype(speed_key({}))>> seen;
  for (const auto& [at, task, record] : epochs) {
    if (task->workload < 0) continue;
    auto& configs = seen[task->workload];
    const bool fresh = configs.insert(speed_key(record->granted)).second;
    if (fresh && configs.size() > 1 && record->phase == Phase::probing) ++out.probed_epochs;
  }
  const bool all_failed = out.failed == static_cast<std::int64_t>(out.trials.size());
  if (job.state != JobState::failed || !all_failed) choose_best(out);
  if (!out.best) return out;
  const auto workloads = work_outcomes(view, id);
  const auto workload = out.trials[*out.best].workload;
  if (workload >= 0 && static_cast<std::size_t>(workload) < workloads.size())
    out.best_workload = workloads[static_cast<std::size_t>(workload)];
  rank_by_energy_and_time(out.best_workload);
  choose_system(out, tune, view, workloads);
  return out;
}

spec::TuneJob warming(spec::TuneJob job, const NodeView& node, std::int64_t repetitions) {
  const auto system = on_node(job.system, node);
  spec::Space batches;
  for (const auto& parameter : job.hyper.parameters) {
    const bool is_batch = batch_of({{parameter.name, std::int64_t{1}}}) > 0;
    if (is_batch && parameter.domain.kind == spec::Domain::Kind::choice) {
      batches.parameters.push_back({parameter.name, parameter.domain, std::nullopt});
    } else if (is_batch) {
      // The paper's four, as far as the domain has them.
      spec::Domain some{spec::Domain::Kind::choice};
      for (std::int64_t batch : {32, 64, 512, 1024})
        if (spec::contains(parameter.domain, batch)) some.choices.emplace_back(batch);
      if (some.choices.empty()) some.choices.push_back(search::at(parameter.domain, 0.5));
      batches.parameters.push_back({parameter.name, some, std::nullopt});
    } else if (!parameter.when) {
      job.base.hyper[parameter.name] = search::at(parameter.domain, 0.5);
    }
  }
  // A search needs something that varies, if only one choice.
  if (batches.parameters.empty())
    batches.parameters.push_back({"warm", {spec::Domain::Kind::choice, {std::int64_t{0}}}, std::nullopt});
  job.hyper = batches;
  job.search.algorithm = "grid";
  job.search.trials.reset();
  job.search.pruning = "none";
  job.search.max_epochs = job.base.epochs =
      static_cast<std::int64_t>(system.cores.size() * system.speed.size()) * repetitions;
  job.objective.goals.resize(1);
  job.objective.target.reset();
  job.mode = spec::Mode::pipelined;
  job.warm_repetitions = repetitions;
  return job;
}

}  // namespace tandem::tune
