#include "tune/fixed_default.h"

#include <fmt/format.h>

#include <algorithm>

#include "tune/outcome.h"
#include "tune/system_tuner.h"
#include "tune/workload_class.h"

namespace tandem::tune {
namespace {

using WorkOutcomes = std::vector<std::vector<ConfigOutcome>>;

// What an epoch would have taken on so many cores.
double seconds_on(const EpochRecord& record, const std::vector<ConfigOutcome>& workload, int cores,
                  bool& measured) {
  const auto at = std::find_if(workload.begin(), workload.end(),
                               [&](const ConfigOutcome& config) { return config.system.cores == cores; });
  if (at != workload.end()) return at->seconds;
  if (record.granted.cores == cores) return record.working().value;
  measured = false;
  return record.working().value * usual_share(cores) / usual_share(record.granted.cores);
}

// How many trials fit on the machine at once.
int places(const NodeView& node, const spec::SystemSpace& system, int cores) {
  return std::max(std::min(node.capacity.cores / cores, gpu_places(system, node)), 1);
}

FixedDefault on(int cores, int at_a_time, const View& view, JobId id, const WorkOutcomes& workloads) {
  FixedDefault fixed{.what = fmt::format("{} at a time, {} each",
                                         at_a_time == 1 ? "one trial" : fmt::format("{} trials", at_a_time),
                                         cores == 1 ? "1 core" : fmt::format("{} cores", cores))};
  std::vector<double> busy_until(static_cast<std::size_t>(at_a_time), 0);
  for (const auto& task : view.tasks) {
    if (task.job != id || task.workload < 0 || static_cast<std::size_t>(task.workload) >= workloads.size())
      continue;
    const auto& workload = workloads[static_cast<std::size_t>(task.workload)];
    auto& place = *std::min_element(busy_until.begin(), busy_until.end());
    for (std::size_t i = 0; i < task.epochs.size(); ++i) {
      const auto& record = task.epochs[i];
      place += record.startup.value + seconds_on(record, workload, cores, fixed.measured);
      bool known = true;
      const double usual = seconds_on(record, workload, record.granted.cores, known);
      if (first_of_process(task, i)) place += std::max(record.working().value - usual, 0.0);
    }
  }
  fixed.tuning = Seconds{*std::max_element(busy_until.begin(), busy_until.end())};
  return fixed;
}

}  // namespace

std::vector<FixedDefault> fixed_defaults(const View& view, JobId id) {
  const auto& job = *view.jobs[static_cast<std::size_t>(id)].as<spec::TuneJob>();
  if (job.mode != spec::Mode::pipelined || view.nodes.empty()) return {};
  const auto cores = on_node(job.system, view.nodes.front()).cores;
  if (cores.empty()) return {};
  const auto workloads = work_outcomes(view, id);
  const auto best = outcome(view, id);
  std::vector<FixedDefault> out;
  for (int choice : {cores.back(), cores.front()}) {
    out.push_back(on(choice, places(view.nodes.front(), job.system, choice), view, id, workloads));
    for (const auto& config : best.best_workload)
      if (config.system.cores == choice) out.back().epoch = Seconds{config.seconds};
    if (cores.size() == 1) break;
  }
  return out;
}

}  // namespace tandem::tune
