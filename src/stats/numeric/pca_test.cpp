#include "stats/numeric/pca.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace tandem::stats {
namespace {

using Points = std::vector<std::vector<double>>;

TEST(PrincipalComponents, FindTheDirectionsAndSharesOfAStretchedCloud) {
  Random random(1);
  Points points;
  for (int i = 0; i < 4000; ++i) {
    const double along = 3 * random.normal(), across = random.normal();
    points.push_back({10 + (along * 0.6 - across * 0.8), -5 + (along * 0.8 + across * 0.6), 7});
  }
  const auto found = principal_components(points, 2);
  ASSERT_EQ(found.directions.size(), 2U);
  EXPECT_NEAR(std::fabs(found.directions[0][0]), 0.6, 0.03);
  EXPECT_NEAR(std::fabs(found.directions[0][1]), 0.8, 0.03);
  EXPECT_NEAR(found.directions[0][2], 0, 1e-9);
  EXPECT_NEAR(found.shares[0], 0.9, 0.02);
  EXPECT_NEAR(found.shares[0] + found.shares[1], 1, 1e-9);
  double sum = 0;
  for (const auto& point : found.points) sum += point[0];
  EXPECT_NEAR(sum / 4000, 0, 1e-9);  // centred
}

TEST(PrincipalComponents, AllOfThemKeepDistances) {
  Random random(2);
  Points points;
  for (int i = 0; i < 30; ++i) {
    points.emplace_back();
    for (int d = 0; d < 6; ++d) points.back().push_back(random.normal() * (d + 1));
  }
  const auto found = principal_components(points, 6);
  double shares = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    shares += found.shares[i];
    EXPECT_LE(found.shares[i], i > 0 ? found.shares[i - 1] : 1);
    for (std::size_t j = 0; j < 6; ++j) {
      double product = 0;
      for (std::size_t d = 0; d < 6; ++d) product += found.directions[i][d] * found.directions[j][d];
      EXPECT_NEAR(product, i == j ? 1 : 0, 1e-9);
    }
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  for (std::size_t i = 1; i < points.size(); ++i) {
    double before = 0, after = 0;
    for (std::size_t d = 0; d < 6; ++d) {
      before += std::pow(points[i][d] - points[0][d], 2);
      after += std::pow(found.points[i][d] - found.points[0][d], 2);
    }
    EXPECT_NEAR(before, after, 1e-6);
  }
}

TEST(PrincipalComponents, WhatDoesNotVaryOrIsNotThereIsNoTrouble) {
  EXPECT_TRUE(principal_components(Points{}, 2).points.empty());
  const auto same = principal_components(Points{{1, 2}, {1, 2}, {1, 2}}, 2);
  EXPECT_EQ(same.shares, (std::vector<double>{0, 0}));
  EXPECT_EQ(same.points[1], (std::vector<double>{0, 0}));
  const auto one = principal_components(Points{{4, 5, 6}}, 2);
  EXPECT_EQ(one.directions.size(), 1U);
  EXPECT_EQ(one.points[0], std::vector<double>{0});
  EXPECT_EQ(principal_components(Points{{1}, {3}}, 2).shares, std::vector<double>{1});
  EXPECT_TRUE(principal_components(Points{{}, {}}, 2).directions.empty());
}

}  // namespace
}  // namespace tandem::stats
