#include "tune/recurring_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tune/system_tuner.h"

namespace tandem::tune {
namespace {

constexpr const char* kBatch = "batch_size";

const spec::Parameter& batch_parameter(const spec::TuneJob& job) {
  for (const auto& parameter : job.hyper.parameters)
    if (parameter.name == kBatch && parameter.domain.kind == spec::Domain::Kind::choice) return parameter;
  throw UserError(
      "hyper.batch_size: a recurring job needs choices to learn about, such as {choice: [64, 128, 256]}");
}

// Power limits; where clocks are chosen among too, numbers for each limit with each clock.
std::vector<double> settings_of(const spec::SystemSpace& system) {
  if (system.gpu_clock.size() < 2)
    return system.gpu_power.empty() ? std::vector<double>{1} : system.gpu_power;
  std::vector<double> out;
  for (std::size_t i = 0; i < system.gpu_clock.size() * std::max<std::size_t>(system.gpu_power.size(), 1);
       ++i)
    out.push_back(static_cast<double>(i + 1));
  return out;
}

// Which of several ascending choices it ran with: what could not be set ran as the card is, at its highest.
std::optional<std::size_t> place_among(const std::vector<double>& choices, double value) {
  if (value <= 0 || choices.empty()) return choices.empty() ? 0 : choices.size() - 1;
  const auto found = std::find(choices.begin(), choices.end(), value);
  if (found == choices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

std::optional<double> setting_of(const spec::SystemSpace& system, const Resources& granted) {
  const auto power = place_among(system.gpu_power, granted.gpu_power.value);
  const auto clock = place_among(system.gpu_clock, granted.gpu_clock);
  if (!power || !clock) return std::nullopt;
  const auto all = settings_of(system);
  return all[system.gpu_clock.size() < 2
                 ? *power
                 : *clock * std::max<std::size_t>(system.gpu_power.size(), 1) + *power];
}

// A GPU's counter moves in steps of a tenth of a second (seen on an H200): both ends of an epoch lie
// somewhere between two. Other sources are taken to be exact.
double counter_error(const Energy& energy, double seconds) {
  constexpr double kStep = 0.1;
  return energy.source.starts_with("nvml") ? kStep / std::sqrt(6) / seconds : 0;
}

// Where limits and clocks are both chosen, one number below says nothing of the other: nothing is settled.
void keep_to(spec::SystemSpace& system, const std::vector<double>& among) {
  auto& chosen = system.gpu_clock.size() > 1 ? system.gpu_clock : system.gpu_power;
  if (among.empty() || chosen.size() < 2 || (system.gpu_power.size() > 1 && system.gpu_clock.size() > 1))
    return;
  const auto all = settings_of(system);
  std::vector<double> kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::count(among.begin(), among.end(), all[i]) > 0) kept.push_back(chosen[i]);
  if (!kept.empty()) chosen = std::move(kept);
}

}  // namespace

RecurringJob recurring_job_of(const spec::TuneJob& job) {
  if (!job.objective.target)
    throw UserError("objective.target: a recurring job trains until its target is reached; say what it is");
  if (!job.objective.cost)
    throw UserError(
        "objective.cost: a recurring job weighs energy and time, such as {energy: 0.5, time: 0.5}");
  RecurringJob out{.energy_weight = job.objective.cost->energy, .most_epochs = job.search.max_epochs};
  for (const auto& choice : batch_parameter(job).domain.choices)
    out.batches.push_back(static_cast<std::int64_t>(as_number(choice).value_or(0)));
  std::sort(out.batches.begin(), out.batches.end());
  for (const auto& parameter : job.hyper.parameters)
    if (parameter.name != kBatch)
      throw UserError(fmt::format(
          "hyper.{}: only batch_size and the power limit are chosen for a recurring job; give it one value",
          parameter.name));
  // The one its authors use is the one they wrote first, where the model has no usual one.
  const auto usual = job.base.hyper.find(kBatch);
  const Value& first =
      usual != job.base.hyper.end() ? usual->second : batch_parameter(job).domain.choices.front();
  out.default_batch = static_cast<std::int64_t>(as_number(first).value_or(0));
  out.limits = settings_of(job.system);
  check(out);
  return out;
}

bool reached_target(const View& view, JobId id) {
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  const auto& objective = job.as<spec::TuneJob>()->objective;
  const auto& main = objective.goals.front();
  for (TaskId task : job.tasks)
    for (const auto& record : view.tasks[static_cast<std::size_t>(task)].epochs) {
      const auto found = record.metrics.find(main.metric);
      if (found == record.metrics.end()) continue;
      if (main.maximise ? found->second >= *objective.target : found->second <= *objective.target)
        return true;
    }
  return false;
}

std::vector<Lesson> lessons_of(const View& view, JobId id, const spec::SystemSpace& system,
                               const RecurringJob& recurring) {
  std::vector<Lesson> out;
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  if (job.tasks.empty() || (job.state != JobState::finished && job.state != JobState::failed)) return out;
  const auto& task = view.tasks[static_cast<std::size_t>(job.tasks.front())];
  const auto batch = static_cast<std::int64_t>(batch_of(task.trial ? task.trial->hyper : Values{}));
  if (std::count(recurring.batches.begin(), recurring.batches.end(), batch) == 0) return out;
  for (const auto& record : task.epochs) {
    const auto setting = setting_of(system, record.granted);
    const auto used = record.working_energy();
    const double seconds = record.working().value;
    if (record.mixed || !setting || !used || !(seconds > 0) || !(used->value > 0)) continue;
    if (std::count(recurring.limits.begin(), recurring.limits.end(), *setting) == 0) continue;
    out.push_back(
        EpochSlice{batch, *setting, 1, seconds, used->value, counter_error(*record.energy, seconds)});
  }
  const auto epochs = static_cast<double>(task.epochs.size());
  if (epochs == 0 && job.state != JobState::failed) return out;
  const bool stopped = job.reason.starts_with("budget.cost");
  out.push_back(AttemptEnded{batch, std::max(epochs, 1.0),
                             reached_target(view, id) ? Ending::reached
                             : stopped                ? Ending::stopped
                                                      : Ending::failed});
  return out;
}

spec::TuneJob attempt_of(const spec::TuneJob& job, const RecurringPlan& plan) {
  spec::TuneJob out = job;
  out.recurring = true;
  out.search.algorithm = "random";
  out.search.trials = 1;
  for (auto& parameter : out.hyper.parameters)
    if (parameter.name == kBatch) parameter.domain.choices = {plan.batch};
  keep_to(out.system, plan.among);
  if (std::isfinite(plan.stop_cost))
    out.budget.cost =
        Joules{std::min(plan.stop_cost, job.budget.cost.value_or(Joules{plan.stop_cost}).value)};
  return out;
}

}  // namespace tandem::tune
