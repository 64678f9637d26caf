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
  out.limits = job.system.gpu_power;
  if (out.limits.empty()) out.limits = {1};  // whatever it is: there is nothing to choose
  check(out);
  return out;
}

bool reached_target(const View& view, JobId id) {
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  const auto& main = job.tune->objective.goals.front();
  for (TaskId task : job.tasks)
    for (const auto& record : view.tasks[static_cast<std::size_t>(task)].epochs) {
      const auto found = record.metrics.find(main.metric);
      if (found == record.metrics.end()) continue;
      if (main.maximise ? found->second >= *job.tune->objective.target
                        : found->second <= *job.tune->objective.target)
        return true;
    }
  return false;
}

std::vector<Lesson> lessons_of(const View& view, JobId id, const RecurringJob& recurring) {
  std::vector<Lesson> out;
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  if (job.tasks.empty() || (job.state != JobState::finished && job.state != JobState::failed)) return out;
  const auto& task = view.tasks[static_cast<std::size_t>(job.tasks.front())];
  const auto batch = static_cast<std::int64_t>(batch_of(task.trial ? task.trial->hyper : Values{}));
  if (std::count(recurring.batches.begin(), recurring.batches.end(), batch) == 0) return out;
  for (const auto& record : task.epochs) {
    const double watts = record.granted.gpu_power.value;
    const double limit = watts > 0 ? watts : recurring.limits.back();
    const bool known = std::count(recurring.limits.begin(), recurring.limits.end(), limit) > 0;
    if (!known || record.mixed || !record.energy || !record.energy->complete()) continue;
    const double seconds = record.working().value;
    if (!(seconds > 0) || !(record.energy->joules.value > 0)) continue;
    out.push_back(EpochSlice{batch, limit, 1, seconds, record.energy->joules.value});
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

spec::TuneJob attempt_of(const spec::TuneJob& job, std::int64_t batch, double stop_cost) {
  spec::TuneJob out = job;
  out.recurring = true;
  out.search.algorithm = "random";
  out.search.trials = 1;
  for (auto& parameter : out.hyper.parameters)
    if (parameter.name == kBatch) parameter.domain.choices = {batch};
  if (std::isfinite(stop_cost))
    out.budget.cost = Joules{std::min(stop_cost, job.budget.cost.value_or(Joules{stop_cost}).value)};
  return out;
}

}  // namespace tandem::tune
