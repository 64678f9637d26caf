#include "bench/sim_validation/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "spec/ready_clusters.h"

namespace tandem::bench {

double efficiency_for(double target, const std::function<double(double)>& seconds) {
  constexpr double kNear = 1e-9;
  constexpr int kTries = 80;
  // Time is near to a line in 1 / efficiency, so secants; between what is known to be too low and too high.
  double low = 0, high = std::numeric_limits<double>::infinity();
  double x = 1, before_x = 0, before = 0;
  for (int i = 0; i < kTries; ++i) {
    const double took = seconds(1 / x);
    if (std::abs(took / target - 1) < kNear) return 1 / x;
    (took < target ? low : high) = x;
    double next = i == 0 ? x * target / took : x + (target - took) * (x - before_x) / (took - before);
    before_x = x;
    before = took;
    if (!(next > low && next < high)) next = std::isinf(high) ? 2 * low : (low + high) / 2;
    if (std::isfinite(high) && high - low < kNear * high && low > 0) return 1 / next;
    x = next;
  }
  throw UserError(fmt::format(
      "no efficiency gives a step of {:.4g} s: without any computing it takes {:.4g} s", target, before));
}

spec::Cluster ready_cluster(const std::string& name) {
  for (const auto& ready : spec::ready_clusters())
    if (ready.name == name) return ready.cluster;
  throw UserError(fmt::format("there is no ready cluster '{}': see spec/ready_clusters.cpp", name));
}

spec::DeviceType& device_of(spec::Cluster& cluster, const std::string& name) {
  for (auto& device : cluster.devices)
    if (device.name == name) return device;
  throw UserError(fmt::format("cluster '{}' has no device '{}'", cluster.name, name));
}

void calibrated_only(spec::DeviceType& device) {
  device.memory = 0;
  device.memory_bandwidth = 0;
}

}  // namespace tandem::bench
