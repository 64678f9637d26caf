#include "tune/goals.h"

#include <fmt/format.h>

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

Joules energy_trained_until(const TaskView& task, std::size_t index) {
  Joules sum;
  for (std::size_t i = 0; i <= index; ++i) sum += task.epochs[i].working_energy().value_or(Joules{});
  return sum;
}

Seconds trained_until(const TaskView& task, std::size_t index) {
  Seconds sum;
  for (std::size_t i = 0; i <= index; ++i) sum += task.epochs[i].working();
  return sum;
}

TimePrice price_of_time(const View& view, const JobView& job) {
  Watts known;
  for (const auto& node : view.nodes)
    if (node.traits.busy) known = std::max(known, *node.traits.busy);
  return known > Watts{} ? TimePrice{known} : TimePrice{job.most_power, true};
}

std::string cost_text(const spec::Objective& objective, const TimePrice& price) {
  if (!objective.cost) return "";
  return fmt::format(
      "{:.3g} energy + {:.3g} time at {} ({})", objective.cost->energy, objective.cost->time,
      text(price.watts),
      price.seen ? "the greatest mean power of an epoch of this job" : "the machine's greatest draw");
}

Joules cost_of(const spec::CostWeights& weights, Joules joules, Seconds seconds, Watts price) {
  return weights.energy * joules + weights.time * (price * seconds);
}

bool has_goal(const spec::Objective& objective, const std::string& metric) {
  return std::any_of(objective.goals.begin(), objective.goals.end(),
                     [&](const spec::Goal& goal) { return goal.metric == metric; });
}

const char* unit_of(const spec::Objective& objective, const spec::Goal& goal) {
  if (goal.metric == "train_time") return "s";
  return goal.metric == "energy" || (objective.cost && goal.metric == spec::kCost) ? "J" : "";
}

std::optional<std::vector<double>> goal_values(const spec::Objective& objective, const TaskView& task,
                                               std::size_t index, const TimePrice& price,
                                               std::string* missing) {
  std::vector<double> values;
  const auto& metrics = task.epochs[index].metrics;
  const auto& energy = task.epochs[index].energy;
  const bool measured = energy && energy->complete();
  for (const auto& goal : objective.goals) {
    const bool own_cost = objective.cost && goal.metric == spec::kCost;
    const auto found = metrics.find(goal.metric);
    if (found != metrics.end() && !own_cost) {
      values.push_back(found->second);
    } else if (goal.metric == "train_time") {
      values.push_back(trained_until(task, index).value);
    } else if (goal.metric == "energy" && measured) {
      values.push_back(spent_until(task, index).value);
    } else if (own_cost && measured) {
      values.push_back(
          cost_of(*objective.cost, energy_trained_until(task, index), trained_until(task, index), price.watts)
              .value);
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

std::string ranked_by(const spec::TuneJob& job) {
  const auto& main = job.objective.goals.front();
  return main.metric + (job.mode != spec::Mode::joint ? "" : main.maximise ? " / train_time" : " * train_time");
}

std::size_t loss_count(const spec::TuneJob& job) {
  return job.mode == spec::Mode::joint ? 1 : job.objective.goals.size();
}

}  // namespace tandem::tune
