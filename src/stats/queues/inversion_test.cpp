#include "stats/queues/inversion.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::stats {
namespace {

using Complex = std::complex<double>;

Complex exponential(Complex s) {
  return 0.5 / (0.5 + s);
}

TEST(Inversion, FindsTheExponentialsTail) {
  for (const double t : {0.01, 1.0, 10.0, 30.0})
    EXPECT_NEAR(tail_probability(exponential, t), std::exp(-t / 2), 1e-7);
  EXPECT_NEAR(mean_of(exponential, 50), 2, 1e-6);
}

TEST(Inversion, FindsQuantilesFromAnyScale) {
  for (const double scale : {0.001, 2.0, 5000.0})
    for (const double p : {0.01, 0.5, 0.95, 0.999})
      EXPECT_NEAR(quantile_of(exponential, p, scale) / (-2 * std::log(1 - p)), 1, 1e-4) << scale << ' ' << p;
}

TEST(Inversion, AnAtomAtZeroIsAQuantileOfZero) {
  const auto mostly_none = [](Complex s) { return 0.7 + 0.3 * exponential(s); };
  EXPECT_EQ(quantile_of(mostly_none, 0.5, 2), 0);
  EXPECT_NEAR(quantile_of(mostly_none, 0.95, 2), 2 * std::log(0.3 / 0.05), 1e-4);
}

}  // namespace
}  // namespace tandem::stats
