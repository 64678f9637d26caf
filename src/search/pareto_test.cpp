#include "search/pareto.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace tandem::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Small whole losses, so that ties and duplicates are common.
std::vector<Losses> some_losses(std::size_t n, std::size_t goals, std::uint64_t seed) {
  Random random(seed);
  std::vector<Losses> out(n, Losses(goals));
  for (auto& losses : out)
    for (auto& loss : losses) loss = static_cast<double>(random.below(12));
  return out;
}

// By the definition: what nobody left dominates is a front, and leaves.
std::vector<int> ranks_by_peeling(const std::vector<Losses>& losses) {
  std::vector<int> rank(losses.size(), -1);
  for (int current = 0;; ++current) {
    std::vector<std::size_t> leaving;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      bool dominated = rank[i] >= 0;
      for (std::size_t j = 0; j < losses.size(); ++j)
        dominated = dominated || (rank[j] < 0 && dominates(losses[j], losses[i]));
      if (!dominated) leaving.push_back(i);
    }
    if (leaving.empty()) return rank;
    for (const auto i : leaving) rank[i] = current;
  }
}

TEST(Pareto, DominatesWhenNowhereWorseAndSomewhereBetter) {
  EXPECT_TRUE(dominates({1, 2}, {1, 3}));
  EXPECT_FALSE(dominates({1, 2}, {1, 2}));
  EXPECT_FALSE(dominates({0, 3}, {1, 2}));
  EXPECT_TRUE(dominates({1}, {kInfinity}));
}

TEST(Pareto, RanksAreThoseOfPeelingFrontAfterFront) {
  for (std::size_t goals = 1; goals <= 4; ++goals)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto losses = some_losses(60, goals, seed);
      ASSERT_EQ(ranks(losses), ranks_by_peeling(losses)) << goals << " goals, seed " << seed;
    }
}

TEST(Pareto, TheFrontIsNotDominatedAndDominatesTheRest) {
  for (std::size_t goals = 1; goals <= 3; ++goals) {
    const auto losses = some_losses(200, goals, goals);
    const auto best = front(losses);
    ASSERT_FALSE(best.empty());
    std::vector<bool> inside(losses.size(), false);
    for (const auto i : best) inside[i] = true;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      bool dominated = false;
      for (const auto j : best) dominated = dominated || dominates(losses[j], losses[i]);
      EXPECT_NE(dominated, inside[i]) << i;
    }
  }
}

TEST(Pareto, OneGoalIsPlainSortingWithTiesByIndex) {
  EXPECT_EQ(best_first({{3}, {1}, {2}, {1}}), (std::vector<std::size_t>{1, 3, 2, 0}));
  EXPECT_EQ(ranks({{3}, {1}, {2}, {1}}), (std::vector<int>{2, 0, 1, 0}));
}

TEST(Pareto, TheLonelyComeFirstInsideARank) {
  // One front: the ends, then 3 (wide gaps around it), then 1 and 2.
  const std::vector<Losses> losses{{0, 10}, {1, 9}, {2, 8}, {6, 4}, {10, 0}};
  const auto alone = crowding(losses, {0, 1, 2, 3, 4});
  EXPECT_EQ(alone[0], kInfinity);
  EXPECT_EQ(alone[4], kInfinity);
  EXPECT_DOUBLE_EQ(alone[1], 0.2 + 0.2);
  EXPECT_DOUBLE_EQ(alone[2], 0.5 + 0.5);
  EXPECT_DOUBLE_EQ(alone[3], 0.8 + 0.8);
  EXPECT_EQ(best_first(losses), (std::vector<std::size_t>{0, 4, 3, 2, 1}));
}

TEST(Pareto, TheFirstFewAreTheFirstOfAll) {
  for (std::size_t goals = 1; goals <= 3; ++goals) {
    const auto losses = some_losses(100, goals, goals);
    auto all = best_first(losses);
    EXPECT_EQ(all.size(), 100u);
    all.resize(17);
    EXPECT_EQ(best_first(losses, 17), all);
  }
}

TEST(Pareto, RanksGoBeforeCrowding) {
  const std::vector<Losses> losses{{5, 5}, {1, 2}, {2, 1}, {0, 9}, {9, 0}};
  EXPECT_EQ(best_first(losses).back(), 0u);
}

TEST(Pareto, InfiniteLossesMakeNoNonsense) {
  const std::vector<Losses> losses{{kInfinity, kInfinity}, {1, kInfinity}, {0, 3}, {2, 2}, {kInfinity, 1}};
  for (const double alone : crowding(losses, {1, 2, 3, 4})) EXPECT_FALSE(std::isnan(alone));
  EXPECT_EQ(ranks(losses), ranks_by_peeling(losses));
  EXPECT_EQ(best_first(losses).back(), 0u);
}

TEST(Pareto, NothingIsFine) {
  EXPECT_TRUE(ranks({}).empty());
  EXPECT_TRUE(best_first({}).empty());
  EXPECT_TRUE(front({}).empty());
}

}  // namespace
}  // namespace tandem::search
