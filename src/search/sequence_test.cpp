#include "search/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "search/space_testing.h"

namespace tandem::search {
namespace {

using Points = std::vector<std::vector<double>>;

Points halton(std::size_t dimensions, std::size_t n, std::uint64_t seed) {
  const Halton sequence(dimensions, seed);
  Points out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(sequence.point(i));
  return out;
}

Points at_random(std::size_t dimensions, std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Points out(n, std::vector<double>(dimensions));
  for (auto& point : out)
    for (auto& each : point) each = random.uniform();
  return out;
}

// Warnock's formula: how far the share of points in boxes from the origin is from their volume.
double discrepancy(const Points& points) {
  const double n = static_cast<double>(points.size());
  const std::size_t dimensions = points[0].size();
  double single = 0, pairs = 0;
  for (const auto& a : points) {
    double product = 1;
    for (const double x : a) product *= (1 - x * x) / 2;
    single += product;
    for (const auto& b : points) {
      double both = 1;
      for (std::size_t i = 0; i < dimensions; ++i) both *= 1 - std::max(a[i], b[i]);
      pairs += both;
    }
  }
  return std::sqrt(std::pow(3.0, -static_cast<double>(dimensions)) - 2 * single / n + pairs / (n * n));
}

TEST(Halton, IsMoreEvenThanChance) {
  struct Case {
    std::size_t dimensions, points;
    double at_most;  // of what chance gives
  };
  for (const auto& [dimensions, n, at_most] : {Case{1, 16, 0.4}, Case{1, 100, 0.2}, Case{2, 30, 0.7},
                                               Case{2, 256, 0.35}, Case{5, 100, 0.8}, Case{5, 400, 0.6}}) {
    double ours = 0, chance = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      ours += discrepancy(halton(dimensions, n, seed));
      chance += discrepancy(at_random(dimensions, n, seed));
    }
    EXPECT_LT(ours, at_most * chance) << dimensions << " dimensions, " << n << " points: " << ours / chance;
  }
}

TEST(Halton, FillsEveryStratumOnceInItsBase) {
  const auto points = halton(3, 30, 5);
  for (const auto& [dimension, base] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 16}, {1, 27}, {2, 25}}) {
    std::set<std::size_t> strata;
    for (std::size_t i = 0; i < base; ++i)
      strata.insert(static_cast<std::size_t>(points[i][dimension] * static_cast<double>(base)));
    EXPECT_EQ(strata.size(), base) << dimension;
  }
}

TEST(Halton, StaysInsideAndTellsHighDimensionsApart) {
  const auto points = halton(100, 200, 1);
  for (const auto& point : points)
    for (const double x : point) {
      EXPECT_GE(x, 0);
      EXPECT_LT(x, 1);
    }
  // Without scrambling, neighbouring large bases run in step for their first points.
  double product = 0;
  for (const auto& point : points) product += (point[98] - 0.5) * (point[99] - 0.5) * 12 / 200;
  EXPECT_LT(std::abs(product), 0.25);
}

TEST(AllowedPoints, AreTheSameInAnyOrderOfAsking) {
  const auto space = space_of({{"a", whole(1, 20)}, {"b", whole(1, 20)}}, {"a % b == 0"});
  AllowedPoints forwards(space, 1), jumping(space, 1);
  std::vector<Values> points;
  for (int i = 0; i < 20; ++i) {
    points.push_back(forwards.point(i));
    expect_fits(space, points.back());
  }
  EXPECT_EQ(jumping.point(15), points[15]);
  EXPECT_EQ(jumping.point(3), points[3]);
}

}  // namespace
}  // namespace tandem::search
