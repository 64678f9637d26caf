#include "tune/goals.h"

#include <algorithm>

namespace tandem::tune {
namespace {

Joules spent_until(const TaskView& task, std::size_t index) {
  Joules sum;
  for (std::size_t i = 0; i <= index; ++i)
    if (task.epochs[i].energy) sum += task.epochs[i].energy->joules;
  return sum;
}

}  // namespace

Seconds trained_until(const TaskView& task, std::size_t index) {
  Seconds sum;
  for (std::size_t i = 0; i <= index; ++i) sum += task.epochs[i].working();
  return sum;
}

std::optional<std::vector<double>> goal_values(const spec::Objective& objective, const TaskView& task,
                                               std::size_t index, std::string* missing) {
  std::vector<double> values;
  for (const auto& goal : objective.goals) {
    const auto& metrics = task.epochs[index].metrics;
    if (const auto found = metrics.find(goal.metric); found != metrics.end()) {
      values.push_back(found->second);
    } else if (goal.metric == "train_time") {
      values.push_back(trained_until(task, index).value);
    } else if (goal.metric == "energy" && task.epochs[index].energy) {
      values.push_back(spent_until(task, index).value);
    } else {
      if (missing) *missing = goal.metric;
      return std::nullopt;
    }
  }
  return values;
}

search::Losses losses(const spec::TuneJob& job, const std::vector<double>& values, const TaskView& task,
                      std::size_t index) {
  const auto& goals = job.objective.goals;
  if (job.mode == spec::Mode::joint) {
    const double seconds = std::max(trained_until(task, index).value, 1e-9);
    return {goals[0].maximise ? -values[0] / seconds : values[0] * seconds};
  }
  search::Losses out;
  for (std::size_t i = 0; i < goals.size(); ++i) out.push_back(goals[i].maximise ? -values[i] : values[i]);
  return out;
}

std::size_t loss_count(const spec::TuneJob& job) {
  return job.mode == spec::Mode::joint ? 1 : job.objective.goals.size();
}

}  // namespace tandem::tune
