#include "bench/heats/cluster.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace tandem::bench {
namespace {

constexpr double kAmdSeconds = 69, kAmdJoules = 565, kMovedAt = 30;  // figure 3.1
constexpr double kLonger = 5.4, kSaved = 0.34;
constexpr double kAmdWatts = kAmdJoules / kAmdSeconds;
constexpr double kLeft = (kAmdSeconds - kMovedAt) / kAmdSeconds;
constexpr double kArmSeconds = (kLonger * kAmdSeconds - kMovedAt) / kLeft;
constexpr double kArmWatts =
    ((1 - kSaved) * kAmdJoules - kMovedAt * kAmdWatts) / (kLonger * kAmdSeconds - kMovedAt);
constexpr double kArmSecondsAnew = kLonger * kAmdSeconds - kMovedAt;

// Two threads' share of the TDP, and what the AMD really added of it: the rule for the Intels.
constexpr double kOfTdp = kAmdWatts / (155.0 * 2 / 32);

// How much of the time scales with the clock, and how costly a unit is beside an iteration of k-means.
constexpr double kByClock[] = {0.8, 0.95};
constexpr double kUnit[] = {1.0, 0.5};

}  // namespace

std::vector<HeatsMachine> heats_machines(std::size_t e3, std::size_t e5, double idle, bool restarts) {
  const double amd_clock = 2.1, e3_clock = 3.8, e5_clock = 2.1;
  return {
      {"AMD Epyc 7281", 1, 32, amd_clock, 1.2, 155, 64, 65 * idle, kAmdSeconds, kAmdWatts},
      {"Intel E3-1270 v6", e3, 4, e3_clock, 0.8, 72, 64, 25 * idle, kAmdSeconds * amd_clock / e3_clock,
       kOfTdp * 72 * 2 / 4},
      {"Intel E5-2683 v4", e5, 32, e5_clock, 1.2, 120, 128, 60 * idle, kAmdSeconds * amd_clock / e5_clock,
       kOfTdp * 120 * 2 / 32},
      {"ARM Cortex-A53", 4, 4, 1.4, 0.6, 5, 1, 2 * idle, restarts ? kArmSecondsAnew : kArmSeconds, kArmWatts},
  };
}

place::Prediction truth(const HeatsMachine& machine, const place::TaskFeatures& task) {
  const double clock = task.clock / machine.ghz, by_clock = kByClock[task.family];
  const double a_unit = machine.task_seconds / kFigureIterations * kUnit[task.family];
  const double seconds = task.work * a_unit * (2 / task.cores) * (by_clock / clock + 1 - by_clock);
  return {seconds, seconds * machine.task_watts * (task.cores / 2) * clock * clock};
}

place::Prediction SimulatedProber::run(std::uint32_t type, const place::TaskFeatures& task, std::uint64_t) {
  Random random(seed_, runs_++);
  const auto exact = truth(machines_[type], task);
  return {exact.seconds * std::exp(0.03 * random.normal()), exact.joules * std::exp(0.05 * random.normal())};
}

place::HeatsModel probed_model(const std::vector<HeatsMachine>& machines,
                               const place::HeatsModelOptions& options, double* machine_seconds) {
  auto all = options;
  all.families = place::probe_tasks().size();
  place::HeatsModel model(machines.size(), all);
  SimulatedProber prober(machines);
  place::ProbePlan plan;
  for (const auto& machine : machines) plan.clocks.push_back({machine.least_ghz, machine.ghz});
  plan.memory = {kTaskMemory};
  const double took = place::probe(model, prober, plan);
  if (machine_seconds) *machine_seconds = took;
  return model;
}

Learned::Learned(place::HeatsModel& model, const std::vector<HeatsMachine>& machines,
                 std::vector<double> iterations)
    : model_(model), machines_(machines), iterations_(std::move(iterations)) {
  known_.resize(iterations_.size() * machines_.size());
}

place::TaskFeatures Learned::features(std::uint32_t task, std::uint32_t type) const {
  return {0, iterations_[task], 2, kTaskMemory, machines_[type].ghz};
}

place::Prediction Learned::predict(std::uint32_t task, std::uint32_t type) {
  auto& known = known_[task * machines_.size() + type];
  if (known.seconds == 0) {
    known = model_.predict(type, features(task, type));
    known.idle_joules = known.seconds * machines_[type].idle_watts * 2 / machines_[type].cores;
  }
  return known;
}

void Learned::ended(std::uint32_t task, std::uint32_t type, const place::Prediction& was, double now) {
  model_.observe(type, features(task, type), was, now);
  if (model_.maintain(now) > 0) std::fill(known_.begin(), known_.end(), place::Prediction{});
}

sim::ReplayPool pool_of(const HeatsMachine& machine) {
  sim::ReplayPool out;
  out.name = machine.name, out.count = machine.count;
  out.node = {1000 * machine.cores, static_cast<Bytes>(machine.memory * static_cast<double>(kGiB)), 0, 0};
  out.draw = sim::NodeDraw{machine.idle_watts, machine.task_watts / 2 * machine.cores, 0};
  return out;
}

HeatsTrace heats_trace(const std::vector<HeatsMachine>& machines, std::uint64_t seed, double shorter) {
  constexpr int kBursts = 4, kTasks = 480;
  constexpr double kWindow = 150;
  HeatsTrace out;
  Random random(seed, 36);
  std::vector<double> at;
  for (int i = 0; i < kTasks; ++i)
    at.push_back(kWindow * (i / (kTasks / kBursts)) + random.uniform(0, kWindow));
  std::sort(at.begin(), at.end());
  std::vector<std::uint32_t> pools;
  for (const auto& machine : machines) {
    pools.push_back(static_cast<std::uint32_t>(out.input.pools.size()));
    out.input.pools.push_back(pool_of(machine));
  }
  out.input.shapes.push_back(
      {{2000, static_cast<Bytes>(kTaskMemory * static_cast<double>(kGiB)), 0, 0}, 1, pools});
  for (const double when : at) {
    out.iterations.push_back((500 + static_cast<double>(random.below(501))) / shorter);
    out.input.jobs.push_back({when, 0, 0, 0});
    for (const auto& machine : machines)
      out.input.by_pool.push_back(
          truth(machine, {0, out.iterations.back(), 2, kTaskMemory, machine.ghz}).seconds);
  }
  return out;
}

}  // namespace tandem::bench
