// How long something takes on other numbers of cores: seconds = parallel / cores + serial (Amdahl's law).
//
// Fitted by least squares to what was measured, neither part below 0. Where all was measured on one number of
// cores, kUsuallyParallel of the time on one core is taken to be parallel. Pure.
#pragma once

#include <span>
#include <utility>

namespace tandem::stats {

inline constexpr double kUsuallyParallel = 0.8;

struct SpeedUp {
  double parallel = 0, serial = 0;  // seconds on one core
  double seconds(int cores) const { return parallel / cores + serial; }
};

// Cores and seconds; at least one.
SpeedUp fit_speed_up(std::span<const std::pair<int, double>> measured);

}  // namespace tandem::stats
