// Matérn covariance of smoothness 3/2: 1 at no distance, and fading; rough enough for measured times.
#pragma once

#include <cmath>

namespace tandem::stats {

inline double matern(double distance) {
  const double d = 1.7320508075688772 * std::abs(distance);
  return (1 + d) * std::exp(-d);
}

}  // namespace tandem::stats
