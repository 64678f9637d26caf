#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace tandem {
namespace {

// Replay depends on these never changing.
TEST(Random, IsTheSameOnEveryMachine) {
  Random random(1);
  EXPECT_EQ(random.bits(), 17154914556750032435u);
  EXPECT_EQ(random.below(1000), 162u);
  EXPECT_DOUBLE_EQ(random.uniform(), 0.16532524975997753);
  EXPECT_NEAR(random.normal(), 0.23843800692437322, 1e-12);
  EXPECT_NEAR(random.exponential(2), 0.056372786478519406, 1e-12);
}

TEST(Random, SeedAndStreamBothMatter) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (std::uint64_t stream = 0; stream < 30; ++stream) first.insert(Random(seed, stream).bits());
  EXPECT_EQ(first.size(), 900u);
  EXPECT_EQ(Random(7, 3).bits(), Random(7, 3).bits());
}

TEST(Random, UniformFillsItsRangeEvenly) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double drawn = random.uniform(-2, 3);
    ASSERT_GE(drawn, -2);
    ASSERT_LT(drawn, 3);
    sum += drawn;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.02);
}

TEST(Random, UniformNeverReachesItsUpperEnd) {
  Random random(3);
  const double high = std::nextafter(1.0, 2.0);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(random.uniform(1.0, high), 1.0);
}

TEST(Random, BelowIsUnbiased) {
  Random random(4);
  std::vector<int> count(7);
  for (int i = 0; i < 70'000; ++i) ++count.at(random.below(7));
  for (int n : count) EXPECT_NEAR(n, 10'000, 500);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, NormalAndExponentialHaveTheirMoments) {
  Random random(5);
  double sum = 0, squares = 0, waits = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double drawn = random.normal();
    ASSERT_TRUE(std::isfinite(drawn));
    sum += drawn;
    squares += drawn * drawn;
    const double wait = random.exponential(3);
    ASSERT_GE(wait, 0);
    waits += wait;
  }
  EXPECT_NEAR(sum / 100'000, 0, 0.02);
  EXPECT_NEAR(squares / 100'000, 1, 0.02);
  EXPECT_NEAR(waits / 100'000, 3, 0.05);
}

TEST(Random, NamesGiveStableStreams) {
  EXPECT_EQ(hash_name(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_name("a"), 0xaf63dc4c8601ec8cu);  // published FNV-1a vector
  EXPECT_NE(hash_name("train"), hash_name("test"));
}

}  // namespace
}  // namespace tandem
