// What an epoch takes against what it draws, configuration by configuration, and the Pareto front of both.
#include <fmt/format.h>

#include <algorithm>

#include "report/html.h"
#include "report/parts.h"
#include "report/svg.h"

namespace tandem::report {

using namespace app;
namespace {

// Memory is a limit, not a speed: it makes no other configuration.
Resources without_memory(Resources system) {
  system.memory = 0;
  return system;
}

std::string system_name(const Resources& system) {
  return text(without_memory(system));
}

bool is_chosen(const Tuned& run, const tune::ConfigOutcome& config) {
  return without_memory(config.system) == without_memory(run.found.best_system);
}

std::string plot_of(const Tuned& run, const std::vector<tune::ConfigOutcome>& known) {
  std::vector<double> seconds, joules;
  Points front;
  for (const auto& config : known) {
    seconds.push_back(config.seconds), joules.push_back(*config.joules);
    if (config.rank == 0) front.emplace_back(config.seconds, *config.joules);
  }
  std::sort(front.begin(), front.end());
  Plot plot("energy against time of an epoch", axis_for("time of an epoch (s)", seconds, false, true),
            axis_for("energy of an epoch (J)", joules, false, true));
  plot.line(front, "c1 thin");
  for (const auto& config : known) {
    const std::string about =
        fmt::format("{}\n{} and {} an epoch, {}", system_name(config.system), text(Seconds{config.seconds}),
                    text(Joules{*config.joules}), count_text(config.epochs, "epoch", "epochs"));
    plot.dot(config.seconds, *config.joules, config.rank == 0 ? "c1 star" : "c7", about,
             is_chosen(run, config) ? 6 : 4);
    // Names of neighbours would run into each other: the others are in the table, and under the pointer.
    if (is_chosen(run, config)) plot.word(config.seconds, *config.joules, system_name(config.system));
  }
  return figure(plot.svg(),
                "Left is quicker, down draws less. Line: the Pareto front. Large: the chosen one.");
}

std::string configurations_table(const Tuned& run, const std::vector<tune::ConfigOutcome>& known) {
  const auto& weights = run.spec.objective.cost;
  std::vector<std::string> headings{"system", "time (s)", "energy (J)", "epochs", "Pareto rank"};
  if (weights) headings.push_back("cost (J)");
  std::vector<std::vector<Cell>> rows;
  std::optional<std::size_t> chosen;
  for (const auto& config : known) {
    if (is_chosen(run, config)) chosen = rows.size();
    rows.push_back({word_cell(system_name(config.system)), number_cell(config.seconds),
                    number_cell(*config.joules), number_cell(static_cast<double>(config.epochs)),
                    config.rank == 0 ? Cell{"front", "0"} : number_cell(*config.rank)});
    if (weights)
      rows.back().push_back(number_cell(
          tune::cost_of(*weights, Joules{*config.joules}, Seconds{config.seconds}, run.found.price.watts)
              .value));
  }
  return table(headings, rows, chosen);
}

}  // namespace

std::string energy_time_section(const Tuned& run) {
  const auto& objective = run.spec.objective;
  if (!objective.cost && !tune::has_goal(objective, "energy")) return "";
  const std::string title = "Energy against time";
  std::vector<tune::ConfigOutcome> known;
  for (const auto& config : run.found.best_workload)
    if (config.joules) known.push_back(config);
  if (known.empty())
    return section(
        "energy-time", title,
        nothing(run.spec.mode == spec::Mode::pipelined
                    ? "Nobody could tell the energy of an epoch of the best trial's workload class."
                    : "System parameters were not tuned inside the epochs in this mode."));
  const std::string cost =
      objective.cost ? "<p>Cost: " + escape(tune::cost_text(objective, run.found.price)) + ".</p>\n" : "";
  return section(
      "energy-time", title,
      "<p>Medians of an epoch of the best trial's workload class, in each configuration that was run. "
      "None on the front is slower than another that draws no more.</p>\n" +
          cost + figures({plot_of(run, known)}) + configurations_table(run, known));
}

}  // namespace tandem::report
