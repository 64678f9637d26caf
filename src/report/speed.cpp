// How the time and energy of an epoch depend on its cores.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/tune_results.h"
#include "report/html.h"
#include "report/parts.h"
#include "report/svg.h"
#include "report/tune_table.h"

namespace tandem::report {

using namespace app;

std::string speed_section(const Tuned& run) {
  const std::string title = "Speed against cores";
  const auto workloads = tune::work_outcomes(run.view, run.job.id);
  std::vector<double> cores, seconds, joules;
  for (const auto& workload : workloads)
    for (const auto& config : workload) {
      cores.push_back(config.system.cores);
      seconds.push_back(config.seconds + config.spread);
      if (config.joules) joules.push_back(*config.joules);
    }
  if (cores.empty())
    return section("speed", title,
                   nothing(run.spec.mode == spec::Mode::pipelined
                               ? "No epoch was assigned to a workload class."
                               : "System parameters were not tuned inside the epochs in this mode."));
  Axis across = axis_for("cores", cores, *std::max_element(cores.begin(), cores.end()) > 8);
  if (!across.log) across.low = 0, across.high = *std::max_element(cores.begin(), cores.end()) + 0.6;
  across.whole = true;
  Plot time("seconds an epoch against cores", across, axis_for("seconds an epoch", seconds, false, true));
  Plot energy("joules an epoch against cores", across, axis_for("joules an epoch", joules, false, true));
  std::string key = "<div class=\"key\">";
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    if (workloads[w].empty()) continue;
    key += fmt::format("<span class=\"{}\"><i></i>workload class {}</span>",
                       colour(static_cast<std::int64_t>(w)), w);
    std::map<decltype(speed_key({})), std::pair<Points, Points>>
        lines;  // of those that differ in cores alone
    const std::string look = colour(static_cast<std::int64_t>(w));
    for (const auto& config : workloads[w]) {
      const std::string about =
          fmt::format("workload class {}: {}\n{} an epoch ± {}, {}{}", w, text(config.system),
                      text(Seconds{config.seconds}), text(Seconds{config.spread}),
                      count_text(config.epochs, "epoch", "epochs"),
                      config.joules ? fmt::format("\n{} an epoch", text(Joules{*config.joules})) : "");
      time.whisker(config.system.cores, config.seconds - config.spread, config.seconds + config.spread,
                   look + " thin");
      time.dot(config.system.cores, config.seconds, look, about, config.system.speed < 1 ? 2.6 : 4);
      Resources other = config.system;
      other.cores = 1;
      auto& line = lines[speed_key(other)];
      line.first.emplace_back(config.system.cores, config.seconds);
      if (!config.joules) continue;
      energy.dot(config.system.cores, *config.joules, look, about, config.system.speed < 1 ? 2.6 : 4);
      line.second.emplace_back(config.system.cores, *config.joules);
    }
    for (auto& [pace, pair] : lines)
      time.line(pair.first, look + " thin"), energy.line(pair.second, look + " thin");
  }
  key += "</div>\n";
  std::vector<std::string> all{
      figure(time.svg(),
             "Median time of an epoch without start-up, and its median deviation. Trials whose epochs cost "
             "alike are one workload class; only configurations that were run are shown.")};
  if (!joules.empty())
    all.push_back(
        figure(energy.svg(), fmt::format("Median energy of an epoch, {}: {}.",
                                         how_known(energy_of(run.found)), run.found.energy_source)));
  return section("speed", title, key + figures(all));
}

}  // namespace tandem::report
