#include "app/tune_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "app/results.h"
#include "event/codec.h"
#include "tune/fixed_default.h"

namespace tandem::app {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

json joules_json(const Joules& joules, const std::string& source) {
  return source.empty() ? json(nullptr) : json(joules.value);
}

json trial_json(const tune::TrialOutcome& trial, const TaskView& task) {
  json out{{"trial", trial.task},
           {"hyper", tandem::to_json(trial.hyper)},
           {"state", trial.state},
           {"reason", trial.reason},
           {"epochs", trial.epochs},
           {"best_epoch", trial.best_epoch ? json(*trial.best_epoch) : json(nullptr)},
           {"metrics", trial.metrics},
           {"goals", trial.goals},
           {"train_seconds", trial.train_time.value},
           {"joules", joules_json(trial.joules, task.energy_source)},
           {"system", tandem::to_json(trial.system)},
           {"bracket", trial.bracket},
           {"rung", trial.rung},
           {"work", trial.workload},
           {"attempts", task.attempt},
           {"preloaded", task.preloaded}};
  auto& history = out["history"] = json::array();
  for (const auto& record : task.epochs)
    history.push_back({{"epoch", record.epoch},
                       {"at", record.at.value},
                       {"seconds", record.seconds.value},
                       {"startup", record.startup.value},
                       {"cores", record.granted.cores},
                       {"memory", record.granted.memory},
                       {"speed", record.granted.speed},
                       {"system", tandem::to_json(record.granted)},
                       {"mixed", record.mixed},
                       {"phase", name(record.phase)},
                       {"joules", record.energy ? json(record.energy->joules.value) : json(nullptr)},
                       {"metrics", metrics_json(record)}});
  // What failed after its last epoch is a warning: the epochs count.
  if (task.last_failure && (trial.state == "failed" || task.failed_afterwards()))
    out[trial.state == "failed" ? "failure" : "warning"] = {{"failure", name(task.last_failure->failure)},
                                                            {"detail", task.last_failure->detail},
                                                            {"last_output", task.last_failure->last_output}};
  return out;
}

json best_json(const tune::Outcome& found, const View& view) {
  json reached = json::object();
  for (const auto& [metric, at] : found.reached) reached[metric] = at.value;
  const auto& best = found.trials[*found.best];
  const auto& task = view.tasks[static_cast<std::size_t>(best.task)];
  auto measured = json::array();
  for (const auto& config : found.best_workload)
    measured.push_back({{"system", tandem::to_json(config.system)},
                        {"seconds", config.seconds},
                        {"spread", config.spread},
                        {"joules", config.joules ? json(*config.joules) : json(nullptr)},
                        {"rank", config.rank ? json(*config.rank) : json(nullptr)},
                        {"epochs", config.epochs}});
  return {{"trial", best.task},
          {"epoch", *best.best_epoch},
          {"hyper", tandem::to_json(task.trial->hyper)},
          {"point", tandem::to_json(best.hyper)},
          {"system", tandem::to_json(found.best_system)},
          {"metrics", best.metrics},
          {"reached", reached},
          {"ranked_by", tune::ranked_by(*view.jobs.front().as<spec::TuneJob>())},
          {"train_seconds", best.train_time.value},
          {"confidence", found.system_confidence},
          {"measured", measured}};
}

}  // namespace

EnergyTotal energy_of(const tune::Outcome& found) {
  return {found.joules, found.energy_source, found.energy_complete, found.energy_parts};
}

std::optional<TaskId> best_trial(const View& view) {
  const auto found = tune::outcome(view, 0);
  if (!found.best) return std::nullopt;
  return found.trials[*found.best].task;
}

// Trials that are over; how many there will be is known where somebody said so.
Progress tune_progress(const View& view, const JobView& job) {
  Progress out{0, job.as<spec::TuneJob>()->search.trials.value_or(0), "trials"};
  for (const TaskId id : job.tasks) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    out.done += task.state == TaskState::ended || task.state == TaskState::failed;
  }
  return out;
}

std::optional<Seconds> expected_left(const JobView& job, double share, Joules spent) {
  constexpr double kTooLittle = 0.05;
  const auto& budget = job.as<spec::TuneJob>()->budget;
  std::optional<Seconds> left;
  const auto at_most = [&](Seconds until) {
    left = std::max(Seconds{}, left ? std::min(*left, until) : until);
  };
  if (share > kTooLittle && share < 1) at_most(job.active * ((1 - share) / share));
  if (budget.time && share < 1) at_most(*budget.time - job.active);
  if (budget.energy && share < 1 && spent > kTooLittle * *budget.energy)
    at_most(job.active * ((*budget.energy - spent) / spent));
  return left;
}

json tune_json(const store::RunInfo&, const View& view, const TaskFolders& folder) {
  const auto& job = *view.jobs.front().as<spec::TuneJob>();
  const auto found = tune::outcome(view, 0);
  json out{{"mode", spec::name(job.mode)},
           {"algorithm", job.search.algorithm},
           {"seed", job.search.seed},
           {"best", found.best ? best_json(found, view) : json(nullptr)},
           {"tuning_seconds", found.tuning.value},
           {"tuning_joules", joules_json(found.joules, found.energy_source)},
           {"energy_source", found.energy_source.empty() ? json(nullptr) : json(found.energy_source)},
           {"energy_complete", found.energy_complete},
           {"energy_parts", parts_json(found.energy_parts)},
           {"epochs_total", found.epochs_total},
           {"probed_epochs", found.probed_epochs},
           {"reused_profiles", found.reused_profiles},
           {"unread", unread_hyper(view.jobs.front())},
           {"failed_trials", found.failed},
           {"failed_afterwards", found.failed_afterwards}};
  auto& goals = out["goals"] = json::array();
  for (const auto& goal : job.objective.goals)
    goals.push_back({{"metric", goal.metric}, {"maximise", goal.maximise}});
  if (const auto& cost = job.objective.cost)
    out["cost"] = {{"energy", cost->energy},
                   {"time", cost->time},
                   {"watts", found.price.watts.value},
                   {"watts_are", found.price.seen ? "seen" : "known"}};
  auto& trials = out["trials"] = json::array();
  for (const auto& trial : found.trials)
    trials.push_back(trial_json(trial, view.tasks[static_cast<std::size_t>(trial.task)]));
  auto& front = out["front"] = json::array();
  for (std::size_t i : found.front) front.push_back(found.trials[i].task);
  auto& instead = out["instead_of"] = json::array();
  for (const auto& fixed : tune::fixed_defaults(view, 0))
    instead.push_back({{"what", fixed.what},
                       {"tuning_seconds_predicted", fixed.tuning.value},
                       {"all_measured", fixed.measured}});
  const auto model = model_file(folder, view);
  out["model"] = model ? json(model->string()) : json(nullptr);
  return out;
}

}  // namespace tandem::app
