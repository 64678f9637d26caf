#include "tune/batch_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "stats/numeric/distributions.h"
#include "stats/numeric/matern.h"

namespace tandem::tune {
namespace {

TEST(BatchCurve, KnowsWhatItSawAndLessFurtherAway) {
  const auto at = batch_curve({{64, std::log(20), 1e-4}}, {64, 128, 256, 4096});
  EXPECT_NEAR(at[0].mean, std::log(20), 1e-3);
  EXPECT_NEAR(at[0].variance, 1e-4, 1e-5);
  for (std::size_t i = 1; i < at.size(); ++i) {
    EXPECT_NEAR(at[i].mean, std::log(20), 0.05) << "one point has no slope";
    EXPECT_GT(at[i].variance, at[i - 1].variance);
  }
  EXPECT_NEAR(std::sqrt(at[1].variance), 0.26, 0.02) << "a doubling: a factor of about 1.3";
}

TEST(BatchCurve, GoesOnInTheDirectionItSaw) {
  const auto at = batch_curve({{64, 3.0, 1e-4}, {128, 2.6, 1e-4}}, {256, 32});
  EXPECT_LT(at[0].mean, 2.6);
  EXPECT_GT(at[1].mean, 3.0);
}

// A sighting at 64 and a bound at 256: the posterior at both by summing over a fine grid of curves.
TEST(BatchCurve, BoundsAreTakenInAsExactSummationDoes) {
  for (const double bound : {1.0, 2.0, 2.3, 3.0}) {
    const double seen = 2, noise = 0.01;
    const auto at = batch_curve({{64, seen, noise}, {256, bound, noise, true}}, {64, 256});
    const double away = stats::matern(2 / 6.0), level = 100;
    double mass = 0, mean = 0, square = 0;
    const double a = level + 1, b = level + away, det = a * a - b * b;
    const double centre = (seen + bound) / 2;  // as the curve takes it; the level is nearly flat
    for (double x = seen - 0.6; x <= seen + 0.6; x += 0.01)
      for (double y = -1; y <= 5; y += 0.01) {
        const double u = x - centre, v = y - centre;
        const double prior = std::exp(-(a * u * u - 2 * b * u * v + a * v * v) / (2 * det));
        const double likely = std::exp(-(x - seen) * (x - seen) / (2 * noise)) *
                              stats::normal_cdf((y - bound) / std::sqrt(noise));
        mass += prior * likely, mean += prior * likely * y, square += prior * likely * y * y;
      }
    mean /= mass;
    const double deviation = std::sqrt(square / mass - mean * mean);
    EXPECT_NEAR(at[1].mean, mean, 0.02) << "at least " << bound;
    EXPECT_NEAR(std::sqrt(at[1].variance), deviation, 0.02) << "at least " << bound;
  }
}

TEST(BatchCurve, BoundsAloneAndFarOnesStayFinite) {
  for (const auto& seen : {std::vector<Sighting>{{64, 4, 0.01, true}, {128, 4, 0.01, true}},
                           std::vector<Sighting>{{64, 0, 1e-4}, {65, 9, 1e-4, true}, {65, 9, 1e-4, true}}})
    for (const auto& belief : batch_curve(seen, {8, 64, 65, 4096})) {
      EXPECT_TRUE(std::isfinite(belief.mean));
      EXPECT_GT(belief.variance, 0);
    }
}

TEST(BatchCurve, AnyMixtureOfSightingsAndBoundsStaysFinite) {
  Random random(7);
  for (int world = 0; world < 300; ++world) {
    std::vector<Sighting> seen;
    double highest = -INFINITY;
    for (std::uint64_t i = 0; i < 1 + random.below(25); ++i) {
      const double batch = std::exp2(static_cast<double>(random.below(13)));
      seen.push_back(
          {batch, random.uniform(-2, 6), std::pow(10, random.uniform(-5, -1)), random.below(2) == 0});
      highest = std::max(highest, seen.back().log);
    }
    for (const auto& belief : batch_curve(seen, {1, 64, 4096})) {
      EXPECT_TRUE(std::isfinite(belief.mean)) << "world " << world;
      EXPECT_LT(belief.mean, highest + 20) << "world " << world;
      EXPECT_GT(belief.variance, 0) << "world " << world;
    }
  }
}

}  // namespace
}  // namespace tandem::tune
