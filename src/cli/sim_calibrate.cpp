#include "cli/sim_calibrate.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "data/dataset.h"
#include "graph/zoo.h"
#include "sim/calibrate.h"
#include "sim/programs.h"
#include "spec/parse_sim.h"
#include "stats/median.h"

namespace tandem::cli {
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
    const auto& hyper = task.trial ? task.trial->hyper : view.jobs.front().spec.hyper;
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
spec::SimJob job_of(const View& view, const spec::DeviceType& device, std::int64_t batch,
                    std::int64_t samples) {
  spec::SimJob job;
  const auto& program = view.jobs.front().spec.program;
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
  const auto& program = view.jobs.front().spec.program;
  if (!program.built_in())
    throw UserError("run " + run.id +
                    " trained a program of its own: its operations are not known. Calibrate on a "
                    "run of a model that both the trainer and the simulator have, such as lenet5");
  for (const auto& entry : graph::zoo())
    if (entry.name == program.model) return;
  throw UserError("the simulator does not know the model '" + program.model + "' of run " + run.id +
                  "; calibrate on one it knows, such as lenet5");
}

std::string found_text(const store::RunInfo& run, const sim::Calibration& found,
                       const std::vector<sim::MeasuredEpoch>& epochs) {
  const auto& device = found.device;
  std::string out = fmt::format("from {} ({}), {} combinations of batch size and cores:\n", run.name, run.id,
                                epochs.size());
  out += fmt::format("  a core reaches {:.2f} GFLOP/s; each further one adds {:.0f} % of it\n",
                     device.clock * device.flops_a_cycle * 1e-9, 100 * device.added_core);
  out += fmt::format("  starting an operation takes {:.1f} us\n", device.overhead * 1e6);
  out += fmt::format("  its own epochs are met with a median error of {:.1f} %, at worst {:.1f} %\n",
                     100 * found.median_error, 100 * found.worst_error);
  for (const auto& note : found.notes) out += "  " + note + "\n";
  return out;
}

json found_json(const store::RunInfo& run, const sim::Calibration& found) {
  return {{"run", run.id},
          {"flops_a_second_of_a_core", found.device.clock * found.device.flops_a_cycle},
          {"added_core", found.device.added_core},
          {"overhead_seconds", found.device.overhead},
          {"median_error", found.median_error},
          {"worst_error", found.worst_error},
          {"notes", found.notes}};
}

}  // namespace

int calibrate_machine(const StoreOption& where, const CalibrateOptions& options, const JsonOption& as_json) {
  auto store = where.open();
  const auto run = with_real_state(store, find_job_run(store, options.run));
  const View view = replayed(store, run);
  require_known(run, view);
  const auto& program = view.jobs.front().spec.program;
  const auto samples = data::check(program.dataset, data::folders_from_environment()).train;
  const auto epochs = measured_of(view);
  auto found = sim::calibrate(graph::make(program.model), samples, epochs, unknown_processor(view));
  found.device.flops_a_cycle = found.device.efficiency;  // of the round clock: GFLOP/s
  found.device.efficiency = 1;
  const auto job = job_of(view, found.device, epochs.front().batch, samples);
  const std::string yaml =
      fmt::format("# Made by `tandem sim --calibrate {}`: what this machine did in that run.\n", run.id) +
      spec::to_yaml(job);
  as_json.write(found_json(run, found));
  if (!as_json.alone()) std::cout << found_text(run, found, epochs);
  if (!options.output.empty()) {
    std::ofstream out(options.output);
    out << yaml << std::flush;
    if (!out) throw_errno("writing " + options.output);
    if (!as_json.alone())
      std::cout << "\ntry: " << own_command() << " sim " << options.output
                << " --sweep batch=32,256 threads=" << (found.device.cores > 1 ? "1,2" : "1") << "\n";
  } else if (!as_json.alone()) {
    std::cout << "\n" << yaml;
  }
  return kDone;
}

}  // namespace tandem::cli
