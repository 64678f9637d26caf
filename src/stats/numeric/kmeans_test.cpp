#include "stats/numeric/kmeans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"

namespace tandem::stats {
namespace {

// `each` points around every centre, deviation `noise` in every direction; the centres take turns.
std::vector<Point> around(const std::vector<Point>& centres, int each, double noise, std::uint64_t seed = 7) {
  Random random(seed);
  std::vector<Point> points;
  for (int i = 0; i < each; ++i)
    for (const Point& centre : centres) {
      Point point;
      for (const double coordinate : centre) point.push_back(coordinate + noise * random.normal());
      points.push_back(point);
    }
  return points;
}

const std::vector<Point> kFour{{0, 0, 0}, {10, 0, 0}, {0, 10, 0}, {10, 10, 10}};

TEST(KMeans, RecoversSeparatedClusters) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto points = around(kFour, 25, 0.5, seed);
    const Clusters found = kmeans(points, {.k = 4, .seed = seed});
    ASSERT_EQ(found.centres.size(), 4U);
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(found.assignment[i], found.assignment[i % 4]) << "seed " << seed;
      EXPECT_LT(squared_distance(found.centres[found.assignment[i]], kFour[i % 4]), 0.5);
    }
  }
}

TEST(KMeans, MeanSquaredDistanceIsThatOfEachClusterAndDoesNotGrowWithThePoints) {
  const std::vector<Point> two{{0, 0}, {100, 0}};
  for (const int each : {50, 800}) {
    auto points = around(two, each, 1);
    for (std::size_t i = 1; i < points.size(); i += 2) points[i][1] *= 3;  // the second cluster is wider
    const Clusters found = kmeans(points, {.k = 2});
    const std::size_t first = found.assignment[0], second = found.assignment[1];
    ASSERT_NE(first, second);
    EXPECT_NEAR(found.mean_squared[first], 2, 0.7);
    EXPECT_NEAR(found.mean_squared[second], 10, 4);
    EXPECT_NEAR(found.sum_of_squares(), each * (found.mean_squared[first] + found.mean_squared[second]),
                1e-6 * each);
  }
}

TEST(KMeans, EveryPointIsWithItsNearestCentreAndEveryCentreIsTheMeanOfItsPoints) {
  Random random(3);
  std::vector<Point> points;
  for (int i = 0; i < 200; ++i) points.push_back({random.uniform(), random.uniform()});
  const Clusters found = kmeans(points, {.k = 7});
  std::vector<Point> sums(7, Point{0, 0});
  std::vector<double> sizes(7, 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(found.assignment[i], nearest_centre(points[i], found.centres));
    sizes[found.assignment[i]] += 1;
    for (std::size_t d = 0; d < 2; ++d) sums[found.assignment[i]][d] += points[i][d];
  }
  for (std::size_t c = 0; c < 7; ++c)
    for (std::size_t d = 0; d < 2; ++d) EXPECT_NEAR(found.centres[c][d], sums[c][d] / sizes[c], 1e-12);
}

TEST(KMeans, TheSameSeedGivesTheSameClusters) {
  const auto points = around(kFour, 30, 4);
  const Clusters first = kmeans(points, {.k = 5, .seed = 9}), second = kmeans(points, {.k = 5, .seed = 9});
  EXPECT_EQ(first.centres, second.centres);
  EXPECT_EQ(first.assignment, second.assignment);
}

TEST(KMeans, MoreStartsAreNeverWorse) {
  const auto points = around(kFour, 30, 5);
  double before = std::numeric_limits<double>::infinity();
  for (const int starts : {1, 4, 16}) {
    const double now = kmeans(points, {.k = 6, .seed = 2, .starts = starts}).sum_of_squares();
    EXPECT_LE(now, before);
    before = now;
  }
}

TEST(KMeans, MoreClustersThanPointsGiveOneEach) {
  const std::vector<Point> points{{1}, {5}, {9}};
  const Clusters found = kmeans(points, {.k = 10});
  EXPECT_EQ(found.centres.size(), 3U);
  EXPECT_EQ(std::set(found.assignment.begin(), found.assignment.end()).size(), 3U);
  EXPECT_EQ(found.sum_of_squares(), 0);
}

TEST(KMeans, DuplicatesShareAClusterAndNoneIsEmpty) {
  std::vector<Point> points(50, Point{2, 2});
  Clusters found = kmeans(points, {.k = 4});
  EXPECT_EQ(found.centres.size(), 1U);
  EXPECT_EQ(found.mean_squared, std::vector<double>{0});
  points.push_back({3, 3});
  found = kmeans(points, {.k = 4});
  ASSERT_EQ(found.centres.size(), 2U);
  EXPECT_EQ(std::count(found.assignment.begin(), found.assignment.end(), found.assignment[0]), 50);
}

TEST(KMeans, NoPointsNoClusters) {
  EXPECT_TRUE(kmeans({}, {.k = 3}).centres.empty());
}

TEST(KMeans, OnePassIsEnoughForAnAnswer) {
  const auto points = around(kFour, 5, 1);
  const Clusters found = kmeans(points, {.k = 4, .most_rounds = 1});
  EXPECT_EQ(found.assignment.size(), points.size());
  for (const std::size_t cluster : found.assignment) EXPECT_LT(cluster, found.centres.size());
}

TEST(NearestCentre, TiesGoToTheLowerIndex) {
  EXPECT_EQ(nearest_centre({0}, std::vector<Point>{{1}, {-1}}), 0U);
  EXPECT_EQ(nearest_centre({-0.1}, std::vector<Point>{{1}, {-1}}), 1U);
}

}  // namespace
}  // namespace tandem::stats
