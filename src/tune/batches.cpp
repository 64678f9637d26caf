#include "tune/batches.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/numeric/median.h"

namespace tandem::tune {
namespace {

constexpr double kMostOverhead = 0.9;  // of an epoch: the rest must be seen to be told

// Least squares of reference = samples + overhead / batch, neither below 0; returns overhead.
double overhead_of(std::span<const BatchSeen> seen) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& one : seen) {
    if (one.batch <= 0) continue;
    const double x = 1 / one.batch;
    n += 1, sx += x, sy += one.reference, sxx += x * x, sxy += x * one.reference;
  }
  const double spread = n * sxx - sx * sx;
  return spread > 1e-15 ? std::max((n * sxy - sx * sy) / spread, 0.0) : 0;
}

}  // namespace

double least_ratio(const Resources& reference, const Resources& system) {
  Resources alike = system;
  alike.cores = reference.cores, alike.speed = reference.speed;
  if (!same_speed(alike, reference)) return 0;
  const double ratio = reference.cores * reference.speed / (system.cores * system.speed);
  return ratio < 1 ? ratio : 0;  // fewer may well be quicker
}

std::optional<double> expected_ratio(double batch, std::span<const BatchSeen> all, double least) {
  std::vector<BatchSeen> seen;
  for (const auto& one : all)
    if (one.reference >= kTelling) seen.push_back(one);
  const double overhead = overhead_of(seen);
  double samples = 0;
  for (const auto& one : seen)
    samples += std::max(one.reference - (one.batch > 0 ? overhead / one.batch : 0), 0.0) /
               static_cast<double>(seen.size());
  const auto share = [&](double of) {
    if (of <= 0 || overhead <= 0) return 0.0;
    return std::min(overhead / of / (samples + overhead / of), kMostOverhead);
  };
  std::vector<double> rest;
  for (const auto& one : seen)
    if (one.there)
      rest.push_back(std::max((*one.there / one.reference - share(one.batch)) / (1 - share(one.batch)), 0.0));
  if (rest.empty()) return std::nullopt;
  return std::max(least, share(batch) + (1 - share(batch)) * stats::median(std::move(rest)));
}

}  // namespace tandem::tune
