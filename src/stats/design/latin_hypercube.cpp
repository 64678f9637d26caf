#include "stats/design/latin_hypercube.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace tandem::stats {
namespace {

constexpr double kEffort = 2e7;  // differences of coordinates; a fraction of a second
constexpr double kMostTries = 5000;

struct Closest {
  double apart = HUGE_VAL;
  std::size_t a = 0, b = 0;
};

Closest closest_two(const std::vector<std::vector<double>>& points, std::span<const std::size_t> steps) {
  Closest out;
  for (std::size_t a = 0; a < points.size(); ++a)
    for (std::size_t b = a + 1; b < points.size(); ++b)
      if (const double apart = distance(points[a], points[b], steps); apart < out.apart) out = {apart, a, b};
  return out;
}

// Swaps one coordinate of one of the two closest points with another point's, and keeps what helps.
void spread_out(std::vector<std::vector<double>>& points, std::span<const std::size_t> steps,
                Random& random) {
  const auto n = static_cast<double>(points.size());
  const double tries = std::min(kEffort / (n * n * static_cast<double>(steps.size())), kMostTries);
  Closest now = closest_two(points, steps);
  for (int i = 0; i < tries; ++i) {
    const std::size_t one = random.below(2) == 0 ? now.a : now.b, other = random.below(points.size());
    const std::size_t axis = random.below(steps.size());
    if (one == other) continue;
    std::swap(points[one][axis], points[other][axis]);
    const Closest then = closest_two(points, steps);
    if (then.apart >= now.apart)
      now = then;
    else
      std::swap(points[one][axis], points[other][axis]);
  }
}

}  // namespace

double snapped(double coordinate, std::size_t steps) {
  if (steps == 0) return coordinate;
  const auto count = static_cast<double>(steps);
  return (std::min(std::floor(coordinate * count), count - 1) + 0.5) / count;
}

double distance(const std::vector<double>& a, const std::vector<double>& b,
                std::span<const std::size_t> steps) {
  double sum = 0;
  for (std::size_t axis = 0; axis < steps.size(); ++axis) {
    const double off = snapped(a[axis], steps[axis]) - snapped(b[axis], steps[axis]);
    sum += off * off;
  }
  return sum;
}

std::vector<std::vector<double>> latin_hypercube(std::size_t count, std::span<const std::size_t> steps,
                                                 std::uint64_t seed) {
  Random random(seed, hash_name("latin hypercube"));
  std::vector<std::vector<double>> points(count, std::vector<double>(steps.size()));
  for (std::size_t axis = 0; axis < steps.size(); ++axis)
    for (std::size_t i = 0; i < count; ++i) {  // a random permutation of the slices, built as it grows
      const std::size_t j = random.below(i + 1);
      points[i][axis] = points[j][axis];
      points[j][axis] = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    }
  if (count > 1 && !steps.empty()) spread_out(points, steps, random);
  return points;
}

}  // namespace tandem::stats
