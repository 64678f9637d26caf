#include "app/calibration.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/runs.h"
#include "base/error.h"
#include "base/text.h"
#include "data/dataset.h"
#include "graph/zoo.h"
#include "sim/calibrate.h"
#include "sim/world/programs.h"
#include "spec/parse_sim.h"
#include "stats/numeric/median.h"

namespace tandem::app {
namespace {
using nlohmann::json;

// Epochs by batch size and cores: the median of each. The first epoch of a process is left out where there
// are others: it also warms up.
std::vector<sim::MeasuredEpoch> measured_of(const View& view) {
  struct Seconds {
    std::vector<double> first{}, later{};
  };
  std::map<std::pair<std::int64_t, int>, Seconds> cells;
  for (const auto& task : view.tasks) {
    const auto& hyper = task.trial ? task.trial->hyper : view.jobs.front().base().hyper;
    const auto batch = static_cast<std::int64_t>(sim::batch_among(hyper));
    Attempt attempt = 0;
    for (const auto& epoch : task.epochs) {
      const bool first = epoch.attempt != attempt;
      attempt = epoch.attempt;
      if (batch < 1 || epoch.granted.speed != 1 || !(epoch.working().value > 0)) continue;
      auto& cell = cells[{batch, epoch.granted.cores}];
      (first ? cell.first : cell.later).push_back(epoch.working().value);
    }
  }
  std::vector<sim::MeasuredEpoch> out;
  for (const auto& [key, seconds] : cells)
    out.push_back(
        {key.first, key.second, stats::median(seconds.later.empty() ? seconds.first : seconds.later)});
  return out;
}

// One node with one processor, and one epoch of what was trained, to be swept.
spec::SimJob simulated_job(const View& view, const spec::DeviceType& device, std::int64_t batch,
                           std::int64_t samples) {
  spec::SimJob job;
  const auto& program = view.jobs.front().base().program;
  job.name = program.model + "-here";
  job.cluster.name = "this-machine";
  job.cluster.devices = {device};
  job.cluster.types.push_back({.name = "node", .devices = {{device.name, 1}}});
  job.cluster.nodes = {{"node", 1}};
  spec::Workload workload;
  workload.name = workload.model = program.model;
  workload.batch = batch;
  workload.samples = samples;
  workload.epochs = 1;
  job.workloads = {workload};
  return job;
}

// FLOPs a second are all that is known of a core, so the clock is a round number.
spec::DeviceType unknown_processor(const View& view) {
  spec::DeviceType device;
  device.name = "cpu";
  device.cores = view.nodes.empty() ? 1 : std::max(1, view.nodes.front().capacity.cores);
  device.clock = 1e9;
  device.flops_a_cycle = 1;
  return device;
}

void require_known(const store::RunInfo& run, const View& view) {
  if (view.jobs.empty()) throw UserError("run " + run.id + " ended before its job began");
  const auto& program = view.jobs.front().base().program;
  if (!program.built_in())
    throw UserError("run " + run.id +
                    " trained a program of its own: its operations are not known. Calibrate on a "
                    "run of a model that both the trainer and the simulator have, such as lenet5");
  for (const auto& entry : graph::zoo())
    if (entry.name == program.model) return;
  throw UserError("the simulator does not know the model '" + program.model + "' of run " + run.id +
                  "; calibrate on one it knows, such as lenet5");
}

}  // namespace

Calibrated calibrate_run(store::Store& store, const std::string& wanted) {
  Calibrated out{.run = with_real_state(store, find_own_run(store, wanted))};
  const View view = replayed(store, out.run);
  require_known(out.run, view);
  const auto& program = view.jobs.front().base().program;
  const auto samples = data::check(program.dataset, data::folders_from_environment()).train;
  out.epochs = measured_of(view);
  out.found = sim::calibrate(graph::make(program.model), samples, out.epochs, unknown_processor(view));
  out.found.device.flops_a_cycle = out.found.device.efficiency;  // of the round clock: GFLOP/s
  out.found.device.efficiency = 1;
  const auto job = simulated_job(view, out.found.device, out.epochs.front().batch, samples);
  out.yaml =
      fmt::format("# Made by `tandem sim --calibrate {}`: what this machine did in that run.\n", out.run.id) +
      spec::to_yaml(job);
  return out;
}

json calibration_json(const Calibrated& calibrated) {
  const auto& [run, found, epochs, yaml] = calibrated;
  return {{"run", run.id},
          {"flops_a_second_of_a_core", found.device.clock * found.device.flops_a_cycle},
          {"added_core", found.device.added_core},
          {"overhead_seconds", found.device.overhead},
          {"median_error", found.median_error},
          {"worst_error", found.worst_error},
          {"notes", found.notes}};
}

}  // namespace tandem::app
