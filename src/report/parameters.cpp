// What the parameters of a tuning run did to its result.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/tune_results.h"
#include "report/html.h"
#include "report/parts.h"
#include "report/svg.h"
#include "report/tune_table.h"
#include "stats/regression/importance.h"
#include "tune/goals.h"

namespace tandem::report {

using namespace app;
namespace {

constexpr std::size_t kMostParameters = 12, kMostParameterDots = 1500;
constexpr PlotSize kSmall{330, 230, 56, 12, 10, 42};

// Results are compared after the same epoch: the last one that four fifths of the trials reached.
struct AtOneEpoch {
  std::int64_t epoch = 0;
  std::vector<stats::Observation> observations;
};

AtOneEpoch at_one_epoch(const Tuned& run) {
  std::map<std::int64_t, std::size_t> reached;
  std::set<TaskId> trials;
  for (const auto& scored : run.scored) ++reached[scored.record().epoch], trials.insert(scored.task->id);
  AtOneEpoch out;
  for (const auto& [epoch, count] : reached)
    if (out.epoch == 0 || 5 * count >= 4 * trials.size()) out.epoch = epoch;
  for (const auto& scored : run.scored)
    if (scored.record().epoch == out.epoch)
      out.observations.push_back({scored.task->trial->point, scored.value});
  return out;
}

const spec::Domain* domain_of(const Tuned& run, const std::string& name) {
  for (const auto& parameter : run.spec.hyper.parameters)
    if (parameter.name == name) return &parameter.domain;
  return nullptr;
}

// Where a parameter's values lie: numbers as they are, words and flags in a row.
class ParameterAxis {
 public:
  ParameterAxis(const Tuned& run, const std::string& name) {
    std::vector<double> numbers;
    bool all_numbers = true;
    for (const auto& trial : run.found.trials) {
      const auto found = trial.hyper.find(name);
      if (found == trial.hyper.end()) continue;
      const auto number = as_number(found->second);
      all_numbers &= number.has_value();
      if (number) numbers.push_back(*number);
      words_.emplace(short_text(found->second), 0);
    }
    const auto* domain = domain_of(run, name);
    const bool choice = domain && domain->kind == spec::Domain::Kind::choice;
    if (all_numbers && !(choice && words_.size() <= 6)) {
      const bool log = domain && (domain->kind == spec::Domain::Kind::log_real ||
                                  domain->kind == spec::Domain::Kind::log_whole);
      axis = axis_for(name, numbers, log);
      words_.clear();
      return;
    }
    std::vector<std::string> names;
    for (const auto& [word, at] : words_) names.push_back(word);
    if (all_numbers)
      std::sort(names.begin(), names.end(),
                [](const auto& a, const auto& b) { return std::stod(a) < std::stod(b); });
    for (std::size_t i = 0; i < names.size(); ++i) words_[names[i]] = static_cast<double>(i);
    axis = word_axis(name, names);
  }

  double at(const Value& value, TaskId trial) const {
    if (words_.empty()) return as_number(value).value_or(0);
    // A little to the side, so that equal ones do not hide each other; the same for the same trial.
    const double aside = (static_cast<double>((trial * 7919) % 101) / 100 - 0.5) * 0.36;
    return words_.at(short_text(value)) + aside;
  }

  Axis axis;

 private:
  std::map<std::string, double> words_;
};

std::string epochs_colour(const Tuned& run, const tune::TrialOutcome& trial) {
  return trial.epochs >= run.spec.search.max_epochs ? "c0" : "c7 faint";
}

}  // namespace

std::string importance_section(const Tuned& run) {
  const std::string title = "What mattered";
  const auto [epoch, observations] = at_one_epoch(run);
  const auto found = stats::importance(observations);
  const auto& metric = run.spec.objective.goals.front().metric;
  if (run.found.trials.empty()) return section("importance", title, nothing("No trial was started."));
  if (run.varied.empty()) return section("importance", title, nothing("No parameter varied."));
  if (found.empty())
    return section(
        "importance", title,
        nothing(fmt::format("{} reported {}; from {} on it can be said what mattered.",
                            count_text(static_cast<std::int64_t>(observations.size()), "trial", "trials"),
                            metric, stats::kFewestObservations)));
  double rest = 1;
  std::size_t most = 0;  // trials that were looked at
  for (const auto& parameter : found) most = std::max(most, parameter.trials);
  std::string bars = "<div class=\"bars\">";
  const auto bar = [&](const std::string& name, double share, const char* look, const std::string& about) {
    bars += fmt::format(
        "<span>{0}</span><div class=\"track{1}\"{2}><div style=\"width:{3:.1f}%\"></div></div><span>{3:.0f} "
        "%</span>\n",
        escape(name, 60), look, tip(about), share * 100);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    rest -= found[i].share;
    if (i < 2 * kMostParameters)
      bar(found[i].name, found[i].share, "",
          fmt::format("{:.1f} % of the variation, over {} trials that have it", found[i].share * 100,
                      found[i].trials));
  }
  bar("together and by chance", std::max(0.0, rest), " rest", "what no parameter explains alone");
  return section(
      "importance", title,
      bars + "</div>\n" +
          fmt::format(
              "<p class=\"sub\">Share of the variation of {} after epoch {} over {} trials that each "
              "parameter predicts alone (main effects; each trial predicted from the others). {}</p>\n",
              escape(metric), epoch,
              most < observations.size() ? fmt::format("{} of {}", most, observations.size())
                                         : std::to_string(most),
              observations.size() < 20 ? "With so few trials take it as a hint." : ""));
}

std::string parameters_section(const Tuned& run) {
  const std::string title = "Result against each parameter";
  const auto& goal = run.spec.objective.goals.front();
  std::vector<double> results;
  for (const auto& trial : run.found.trials)
    if (!trial.goals.empty()) results.push_back(trial.goals.front());
  if (results.empty()) return section("parameters", title, nothing("No trial has a result."));
  if (run.varied.empty()) return section("parameters", title, nothing("No parameter varied."));
  std::vector<std::string> all;
  const std::size_t every = 1 + run.found.trials.size() / kMostParameterDots;
  for (std::size_t i = 0; i < std::min(run.varied.size(), kMostParameters); ++i) {
    const std::string& name = run.varied[i];
    const ParameterAxis across(run, name);
    Plot plot(goal.metric + " against " + name, across.axis,
              axis_for(goal_label(run.spec.objective, goal), results), kSmall);
    const auto draw = [&](std::size_t t) {
      const auto& trial = run.found.trials[t];
      const auto value = trial.hyper.find(name);
      if (trial.goals.empty() || value == trial.hyper.end()) return;
      const bool best = run.found.best == t;
      plot.dot(
          across.at(value->second, trial.task), trial.goals.front(),
          best ? "c1 star" : epochs_colour(run, trial),
          fmt::format("{} {}, {}\n{}", goal.metric, goal_text(run.spec.objective, goal, trial.goals.front()),
                      count_text(trial.epochs, "epoch", "epochs"), run.about(run.task(trial))),
          best ? 5 : 3);
    };
    for (std::size_t t = 0; t < run.found.trials.size(); t += every)
      if (run.found.best != t) draw(t);
    if (run.found.best) draw(*run.found.best);  // on top
    all.push_back("<figure><div class=\"plot\">" + plot.svg() + "</div></figure>\n");
  }
  std::string key = fmt::format(
      "<div class=\"key\"><span class=\"c0\"><i></i>all {} epochs</span><span class=\"c7\"><i></i>ended "
      "earlier</span><span "
      "class=\"c1\"><i></i>best</span></div>\n",
      run.spec.search.max_epochs);
  std::string plots = "<div class=\"figures small\">\n";
  for (const auto& one : all) plots += one;
  std::string note =
      run.varied.size() > kMostParameters
          ? fmt::format(
                "<p class=\"sub\">The first {} of {} parameters; the others are in the table below.</p>\n",
                kMostParameters, run.varied.size())
          : "";
  return section("parameters", title, key + plots + "</div>\n" + note);
}

std::string front_section(const Tuned& run) {
  const auto& goals = run.spec.objective.goals;
  if (goals.size() < 2) return "";
  const std::string title = "Pareto front";
  if (run.spec.mode == spec::Mode::joint)
    return section("front", title, nothing("In joint mode the goals are one number, so there is no front."));
  if (run.found.front.empty()) return section("front", title, nothing("No trial has a result."));
  std::set<std::size_t> front(run.found.front.begin(), run.found.front.end());
  std::vector<std::string> all;
  const std::size_t every = 1 + run.found.trials.size() / kMostParameterDots;
  for (std::size_t g = 1; g < std::min<std::size_t>(goals.size(), 5); ++g) {
    std::vector<double> xs, ys;
    for (const auto& trial : run.found.trials)
      if (trial.goals.size() > g) xs.push_back(trial.goals[g]), ys.push_back(trial.goals[0]);
    Plot plot(goals[0].metric + " against " + goals[g].metric,
              axis_for(goal_label(run.spec.objective, goals[g]), xs),
              axis_for(goal_label(run.spec.objective, goals[0]), ys));
    Points edge;
    for (const std::size_t i : run.found.front)
      edge.emplace_back(run.found.trials[i].goals[g], run.found.trials[i].goals[0]);
    std::sort(edge.begin(), edge.end());
    if (goals.size() == 2) plot.line(edge, "c1 thin");
    for (std::size_t i = 0; i < run.found.trials.size(); ++i) {
      const auto& trial = run.found.trials[i];
      const bool on = front.contains(i);
      if (trial.goals.size() <= g || (!on && i % every != 0)) continue;
      plot.dot(
          trial.goals[g], trial.goals[0], on ? "c1 star" : "c7 faint",
          fmt::format("{} {}, {} {}\n{}", goals[0].metric,
                      goal_text(run.spec.objective, goals[0], trial.goals[0]), goals[g].metric,
                      goal_text(run.spec.objective, goals[g], trial.goals[g]), run.about(run.task(trial))),
          on ? 4.5 : 3);
    }
    all.push_back(
        figure(plot.svg(), fmt::format("{} {}, {} {}. Each trial at its best epoch.", goals[0].metric,
                                       goals[0].maximise ? "up is better" : "down is better", goals[g].metric,
                                       goals[g].maximise ? "right is better" : "left is better")));
  }
  std::vector<std::vector<Cell>> rows;
  for (const std::size_t i : run.found.front) {
    if (rows.size() == 100) break;
    const auto& trial = run.found.trials[i];
    std::vector<Cell> row{number_cell(static_cast<double>(trial.task))};
    for (const double value : trial.goals) row.push_back(number_cell(value));
    row.push_back(word_cell(point_text(trial.hyper)));
    rows.push_back(std::move(row));
  }
  std::vector<std::string> headings{"trial"};
  for (const auto& goal : goals) headings.push_back(goal_label(run.spec.objective, goal));
  headings.push_back("parameters");
  return section("front", title,
                 "<p>None of these is beaten in every goal by another trial.</p>\n" + figures(all) +
                     table(headings, rows));
}

}  // namespace tandem::report
