#include "bench/heats/runner.h"

#include <fmt/format.h>

#include "place/policy/policies.h"

namespace tandem::bench {

std::string Split::name() const {
  return fmt::format("{} E3, {} E5", e3, e5);
}

Runner::Runner(const Setting& setting)
    : setting_(setting),
      machines_(heats_machines(setting.split.e3, setting.split.e5, setting.idle, setting.restarts)),
      model_(probed_model(machines_, {})) {}

sim::Replayed Runner::run(const std::string& policy, std::uint64_t seed) {
  auto trace = heats_trace(machines_, seed, setting_.shorter);
  trace.input.sample = setting_.sample, trace.input.seed = seed;
  Learned learned(model_, machines_, trace.iterations);
  return sim::replay(trace.input, place::parse_policy(policy), &learned);
}

double Runner::idle_watts() const {
  double out = 0;
  for (const auto& machine : machines_) out += machine.idle_watts * static_cast<double>(machine.count);
  return out;
}

std::vector<sim::ReplayJob> Runner::jobs(std::uint64_t seed) const {
  return heats_trace(machines_, seed, setting_.shorter).input.jobs;
}

}  // namespace tandem::bench
