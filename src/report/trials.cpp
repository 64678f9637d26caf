// Every trial in a table, and what went wrong.
#include <fmt/format.h>

#include <algorithm>

#include "app/tune_results.h"
#include "report/html.h"
#include "report/parts.h"
#include "report/tune_table.h"

namespace tandem::report {

using namespace app;
namespace {

constexpr std::size_t kMostTrialColumns = 12, kMostFailures = 20;

Cell parameter_cell(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) return {"", {}};
  if (const auto number = as_number(found->second)) return number_cell(*number);
  return word_cell(short_text(found->second));
}

std::vector<Cell> trial_row(const Tuned& run, const tune::TrialOutcome& trial, bool columns) {
  const auto& goals = run.spec.objective.goals;
  std::vector<Cell> row{number_cell(static_cast<double>(trial.task)), word_cell(trial.state)};
  for (std::size_t i = 0; i < goals.size(); ++i)
    row.push_back(i < trial.goals.size() ? number_cell(trial.goals[i]) : no_number());
  row.push_back(trial.best_epoch ? number_cell(static_cast<double>(*trial.best_epoch)) : no_number());
  row.push_back(number_cell(static_cast<double>(trial.epochs)));
  row.push_back({escape(text(trial.train_time)), fmt::format("{:.6g}", trial.train_time.value)});
  const bool known = !run.task(trial).energy_source.empty();
  row.push_back(known ? Cell{escape(text(trial.joules)), fmt::format("{:.6g}", trial.joules.value)}
                      : no_number());
  row.push_back(word_cell(text(trial.system)));
  row.push_back(trial.workload < 0 ? no_number() : number_cell(trial.workload));
  row.push_back(
      {fmt::format("{}.{}", trial.bracket, trial.rung),
       fmt::format("{}", static_cast<double>(trial.bracket) * 1000 + static_cast<double>(trial.rung))});
  if (columns)
    for (const auto& name : run.varied) row.push_back(parameter_cell(trial.hyper, name));
  else
    row.push_back({escape(point_text(trial.hyper), 300), {}});
  row.push_back({escape(trial.reason, 80), {}});
  return row;
}

// By the main goal; those without a result at the end, in order.
std::vector<const tune::TrialOutcome*> best_first(const Tuned& run) {
  std::vector<const tune::TrialOutcome*> out;
  for (const auto& trial : run.found.trials) out.push_back(&trial);
  std::stable_sort(out.begin(), out.end(), [](const auto* a, const auto* b) {
    if (a->losses.empty() || b->losses.empty()) return a->losses.size() > b->losses.size();
    return a->losses.front() < b->losses.front();
  });
  return out;
}

}  // namespace

std::string trials_section(const Tuned& run) {
  if (run.found.trials.empty()) return section("trials", "Trials", nothing("No trial was started."));
  const bool columns = run.varied.size() <= kMostTrialColumns;
  std::vector<std::string> headings{"trial", "state"};
  for (const auto& goal : run.spec.objective.goals) headings.push_back(goal_label(run.spec.objective, goal));
  for (const char* heading : {"at epoch", "epochs", "training", "energy", "system", "class", "bracket.rung"})
    headings.emplace_back(heading);
  if (columns)
    headings.insert(headings.end(), run.varied.begin(), run.varied.end());
  else
    headings.emplace_back("parameters");
  headings.emplace_back("why it ended");
  std::vector<std::vector<Cell>> rows;
  for (const auto* trial : best_first(run)) rows.push_back(trial_row(run, *trial, columns));
  const EnergyTotal drawn = energy_of(run.found);
  const std::string energy = drawn.source.empty()
                                 ? "Energy is unknown: no source."
                                 : fmt::format("Energy is {}: {}.", how_known(drawn), drawn.source);
  return section("trials", "Trials",
                 table(headings, rows, run.found.best ? std::optional<std::size_t>(0) : std::nullopt) +
                     "<p class=\"sub\">A click on a heading sorts. Results are those of each trial's best "
                     "epoch; training time is without start-up. " +
                     escape(energy) + "</p>\n<p class=\"sub\">States: " + escape(tune::trial_states()) + ".</p>\n");
}

std::string failures_section(const std::vector<const TaskView*>& failed) {
  if (failed.empty()) return "";
  std::string out;
  for (std::size_t i = 0; i < failed.size() && i < kMostFailures; ++i) {
    const TaskView& task = *failed[i];
    out += "<h3>" +
           escape(task.trial ? fmt::format("trial {}: {}", task.id, point_text(task.trial->point))
                             : fmt::format("attempt {}", task.attempt),
                  300) +
           "</h3>\n";
    if (!task.last_failure) continue;
    out += "<p>" +
           escape(fmt::format("{}: {}", name(task.last_failure->failure), task.last_failure->detail), 1000) +
           "</p>\n";
    if (!task.last_failure->last_output.empty())
      out += "<pre>" + escape(task.last_failure->last_output) + "</pre>\n";
  }
  if (failed.size() > kMostFailures)
    out += fmt::format("<p class=\"sub\">{} more failed; their reasons are in the table.</p>\n",
                       failed.size() - kMostFailures);
  return section("failures", "Failures", out);
}

}  // namespace tandem::report
