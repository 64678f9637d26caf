#include "stats/numeric/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::stats {
namespace {

// m = [4 2 0; 2 5 3; 0 3 10]; determinant 4·(50 − 9) − 2·20 = 124.
const std::vector<double> kMatrix = {4, 2, 0, 2, 5, 3, 0, 3, 10};

TEST(Cholesky, SolvesAndKnowsTheInverse) {
  const Cholesky factor(kMatrix, 3);
  ASSERT_TRUE(factor.ok());
  const auto x = factor.solve({8, 21, 36});  // of (1, 2, 3)
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(x[i], static_cast<double>(i + 1), 1e-12);
  EXPECT_NEAR(factor.log_determinant(), std::log(124), 1e-12);
  const auto diagonal = factor.inverse_diagonal();
  EXPECT_NEAR(diagonal[0], 41.0 / 124, 1e-12);
  EXPECT_NEAR(diagonal[1], 40.0 / 124, 1e-12);
  EXPECT_NEAR(diagonal[2], 16.0 / 124, 1e-12);
  double square = 0;
  for (const double each : factor.half({8, 21, 36})) square += each * each;
  EXPECT_NEAR(square, 8 * 1 + 21 * 2 + 36 * 3, 1e-9);
}

TEST(Cholesky, SaysWhenAMatrixIsNotPositiveDefinite) {
  EXPECT_FALSE(Cholesky({1, 2, 2, 1}, 2).ok());
  EXPECT_FALSE(Cholesky({0}, 1).ok());
  EXPECT_FALSE(Cholesky({std::nan("")}, 1).ok());
}

}  // namespace
}  // namespace tandem::stats
