#include "bench/sim_validation/thesis_runs.h"

#include <algorithm>
#include <cassert>

#include "bench/sim_validation/calibrate.h"
#include "graph/zoo.h"

namespace tandem::bench {
namespace {

constexpr double kImageBytes = 14e3;  // Caltech 101, on Lustre
constexpr int kIterations = 200;      // Fathom

Outcome outcome_of(const sim::RunResult& result) {
  Outcome out{result.t_exec, result.usage, result.t_comm, result.t_mem};
  for (const sim::DeviceUse& use : result.devices)
    if (use.worker) out.watt_hours += use.joules.value_or(0) / 3600;
  return out;
}

spec::Workload workload_of(const std::string& strategy, int batch, int iterations, int workers) {
  spec::Workload out;
  out.name = strategy;
  out.batch = batch;
  out.strong = false;  // a worker's batch stays, the iterations are divided
  out.iterations = iterations;
  out.strategy = strategy;
  out.workers = workers;
  return out;
}

spec::Workload caltech(const std::string& strategy, int batch, int workers) {
  auto out = workload_of(strategy, batch, kSamples / batch, workers);
  out.sample_bytes = kImageBytes;
  return out;
}

sim::RunOptions options() {
  sim::RunOptions out;
  out.strategy.bucket = 0;
  out.strategy.servers_apart = true;
  return out;
}

}  // namespace

Kth::Kth() : cluster_(ready_cluster("kth")), model_(graph::make("alexnet")) {}

Outcome Kth::run(const spec::Workload& workload, const Speed& speed) {
  spec::DeviceType& gpu = device_of(cluster_, "K80");
  gpu.efficiency = speed.efficiency;
  gpu.overhead = speed.overhead;
  return outcome_of(sim::run_workload(cluster_, workload, model_, options()));
}

double Kth::efficiency_with(int batch, double overhead) {
  const auto place = std::find(kBatches.begin(), kBatches.end(), batch);
  assert(place != kBatches.end());
  const double printed = Printed{}.seconds[static_cast<std::size_t>(place - kBatches.begin())];
  const auto workload = caltech("default", batch, 1);
  return efficiency_for(printed, [&](double efficiency) {
    return run(workload, {efficiency, overhead}).seconds;
  });
}

double Kth::efficiency(int batch) {
  const auto known = efficiencies_.find(batch);
  if (known != efficiencies_.end()) return known->second;
  return efficiencies_[batch] = efficiency_with(batch, 0);
}

Outcome Kth::alone(int batch) {
  return run(caltech("default", batch, 1), {efficiency(64)});
}

// Times are lines in what starting takes, so two tries show where the printed one lies.
Kth::Speed Kth::with_starts() {
  constexpr double kTry = 1e-4;
  const auto seconds = [&](double overhead) {
    return run(caltech("default", 16, 1), {efficiency_with(64, overhead), overhead}).seconds;
  };
  const double none = seconds(0), some = seconds(kTry);
  const double overhead = kTry * (Printed{}.seconds[0] - none) / (some - none);
  return {efficiency_with(64, overhead), overhead};
}

Outcome Kth::alone_with_starts(int batch) {
  return run(caltech("default", batch, 1), with_starts());
}

double Kth::starting_seconds(int batch) {
  Speed speed = with_starts();
  const double with = run(caltech("default", batch, 1), speed).seconds;
  speed.overhead = 0;
  return (with - run(caltech("default", batch, 1), speed).seconds) * batch / kSamples;
}

Outcome Kth::several(const std::string& strategy, int batch, int workers, bool overlap) {
  auto workload = caltech(strategy, batch, workers);
  workload.overlap = overlap;
  return run(workload, {efficiency(batch)});
}

double Kth::parameter_bytes() const {
  return graph::kBytesAnElement * model_.parameters();
}

double Kth::gpu_memory_bandwidth() const {
  return cluster_.device("K80")->memory_bandwidth;
}

Minsky::Minsky(const std::string& model, int batch, double printed_seconds)
    : cluster_(ready_cluster("minsky")), model_(graph::make(model)), batch_(batch) {
  const double found =
      efficiency_for(printed_seconds, [this](double efficiency) { return seconds_alone(efficiency); });
  device_of(cluster_, "P100").efficiency = found;
}

double Minsky::seconds_alone(double efficiency) {
  device_of(cluster_, "P100").efficiency = efficiency;
  return sim::run_workload(cluster_, workload_of("default", batch_, kIterations, 1), model_, options())
      .t_exec;
}

Outcome Minsky::run(const std::string& strategy, int workers, Where where) {
  spec::Cluster cluster = cluster_;
  for (auto& part : cluster.types.front().devices)
    if (part.device == "P100" && where == Where::own_nodes) part.count = 1;
  if (where == Where::own_nodes) cluster.nodes.front().count = workers + 1;
  auto all = options();
  all.strategy.servers_apart = where == Where::own_nodes;
  return outcome_of(
      sim::run_workload(cluster, workload_of(strategy, batch_, kIterations, workers), model_, all));
}

double Minsky::parameter_bytes() const {
  return graph::kBytesAnElement * model_.parameters();
}

}  // namespace tandem::bench
