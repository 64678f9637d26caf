#include "tune/fingerprint.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <optional>
#include <string_view>

namespace tandem::tune {
namespace {

constexpr double kNanosecond = 1e-9;

// Made by the machine and its other users, counted in coarse ticks, or the sum of two that are there.
constexpr std::array<std::string_view, 9> kNotOfTheWork{
    "involuntary-switches", "context-switches", "cpu-migrations", "major-faults", "read-bytes",
    "written-bytes",        "user-time",        "system-time",    "task-clock"};

struct RateKind {
  double unit;   // what lies below it is as good as nothing
  double floor;  // deviation between runs of one workload class, as a logarithm
  bool level = false;
};

// Floors are what runs of one workload differed by on a shared two-core machine.
RateKind kind_of(std::string_view name) {
  if (name == "resident-bytes") return {0, 0.03, true};
  if (name == "threads") return {0, 0.3, true};
  if (name == "minor-faults") return {10, 1.0};  // nearly all of them in the first epoch
  // A program that does not wait is switched a few dozen times a second, more by its neighbours' doing than
  // its own.
  if (name.ends_with("-switches")) return {100, 0.25};
  if (name.ends_with("-calls") || name.ends_with("-faults")) return {10, 0.25};
  if (name.ends_with("-chars") || name.ends_with("-bytes")) return {1e4, 0.15};
  return {10, 0.1};  // hardware events come in millions
}

constexpr std::string_view kGpuRates = "gpu-";

// Shares, and bytes. Floors allow for a card's temperature, and for how an epoch lies to NVML's clock: its
// last second may hold something else too, which an epoch of a second shows much and a long one little, and a
// counter of joules moves in steps. They were not calibrated on real cards.
RateKind gpu_kind_of(std::string_view name, double epoch_seconds) {
  const auto floor = [&](double always, double of_a_second) {
    return std::hypot(always, 2 * of_a_second / (1 + epoch_seconds));
  };
  if (name == "gpu-memory-bytes") return {5e8, 0.1, true};  // what the driver takes for any program
  if (name == "gpu-power-share") return {0.02, floor(0.05, 0.1), true};
  return {0.05, floor(0.1, 0.25), true};
}

// A neighbour may take half of a CPU; then an epoch's CPU time grows by a fifth too.
constexpr double kCpuFloor = 0.4, kCpuUnit = 0.01, kEpochFloor = 0.2;
// Seconds. Starting, reporting and whoever else runs just then drown an epoch that is shorter.
constexpr double kEpochUnit = 0.2;

bool usable(double rate) {
  return std::isfinite(rate) && rate >= 0;
}

std::optional<double> find_rate(const Metrics& rates, const char* name) {
  const auto found = rates.find(name);
  if (found == rates.end() || !usable(found->second)) return std::nullopt;
  return found->second;
}

// CPU seconds a second.
std::optional<double> cpu_share(const Metrics& rates) {
  if (const auto clock = find_rate(rates, "task-clock")) return *clock * kNanosecond;
  const auto user = find_rate(rates, "user-time"), system = find_rate(rates, "system-time");
  return user && system ? std::optional(*user + *system) : std::nullopt;
}

// Deviation of the logarithm, were the rate log-normal.
double log_deviation(double deviation, double mean) {
  if (!usable(deviation) || deviation <= 0 || mean <= 0) return 0;
  const double relative = deviation / mean;
  return std::sqrt(std::log1p(relative * relative));
}

double cpu_deviation(const KnownWorkload& workload) {
  const auto share = cpu_share(workload.rates), deviation = cpu_share(workload.spread);
  return share && deviation ? log_deviation(*deviation, *share + kCpuUnit) : 0;
}

// How long an epoch takes in the reference configuration, a first one where that is known; 0 where it is not.
double epoch_seconds(const KnownWorkload& workload) {
  if (workload.first_seconds > 0 && usable(workload.first_seconds)) return workload.first_seconds;
  for (const Measured& measured : workload.measured)
    if (same_speed(measured.system, workload.reference))
      return usable(measured.seconds) ? measured.seconds : 0;
  return 0;
}

}  // namespace

bool has_cpu_time(const KnownWorkload& workload) {
  return cpu_share(workload.rates).value_or(0) > 0;
}

Fingerprint fingerprint(const KnownWorkload& workload, bool per_cpu) {
  assert(!per_cpu || has_cpu_time(workload));
  const auto share = cpu_share(workload.rates);
  const double shared_noise = per_cpu ? cpu_deviation(workload) : 0;
  Fingerprint features;
  if (share)
    features["cpu-time"] = {std::log(*share + kCpuUnit), cpu_deviation(workload), kCpuFloor, *share <= 0};
  if (const double seconds = epoch_seconds(workload); seconds > 0)
    features["epoch-time"] = {std::log(seconds * (per_cpu ? *share : 1) + kEpochUnit), 0, kEpochFloor, false};
  for (const auto& [name, rate] : workload.rates) {
    if (name.starts_with("pressure-") || name.starts_with(kGpuRates) || !usable(rate)) continue;
    if (std::find(kNotOfTheWork.begin(), kNotOfTheWork.end(), name) != kNotOfTheWork.end()) continue;
    const RateKind kind = kind_of(name);
    if (kind.level && rate <= 0) continue;
    const double by = per_cpu && !kind.level ? *share : 1;
    const double deviation =
        log_deviation(find_rate(workload.spread, name.c_str()).value_or(0), rate + kind.unit * by);
    // What a busy neighbour does to the CPU share it does to the rate too, and the division takes it out.
    const double own = kind.level
                           ? deviation
                           : std::sqrt(std::max(0.0, deviation * deviation - shared_noise * shared_noise));
    features[name] = {std::log(rate / by + kind.unit), own, kind.floor, rate <= 0};
  }
  return features;
}

Fingerprint gpu_fingerprint(const KnownWorkload& workload) {
  Fingerprint features;
  if (workload.reference.gpus == 0 || workload.reference.gpu_memory > 0) return features;
  for (const auto& [name, rate] : workload.rates) {
    if (!name.starts_with(kGpuRates) || !usable(rate)) continue;
    const RateKind kind = gpu_kind_of(name, epoch_seconds(workload));
    const double deviation =
        log_deviation(find_rate(workload.spread, name.c_str()).value_or(0), rate + kind.unit);
    features[name] = {std::log(rate + kind.unit), deviation, kind.floor, rate <= 0};
  }
  return features;
}

}  // namespace tandem::tune
