#include "stats/training/speed_up.h"

#include <algorithm>
#include <cassert>

namespace tandem::stats {

SpeedUp fit_speed_up(std::span<const std::pair<int, double>> measured) {
  assert(!measured.empty());
  const auto n = static_cast<double>(measured.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& [cores, seconds] : measured) {
    const double x = 1.0 / cores;
    sx += x, sy += seconds, sxx += x * x, sxy += x * seconds;
  }
  const double spread = n * sxx - sx * sx;
  SpeedUp out;
  if (spread > 1e-12) {
    out.parallel = std::max((n * sxy - sx * sy) / spread, 0.0);
    out.serial = std::max((sy - out.parallel * sx) / n, 0.0);
    if (out.serial == 0) out.parallel = sxy / sxx;
  } else {
    const double x = sx / n, seconds = sy / n;
    out.serial = seconds * (1 - kUsuallyParallel) / (1 - kUsuallyParallel * (1 - x));
    out.parallel = (seconds - out.serial) / x;
  }
  return out;
}

}  // namespace tandem::stats
