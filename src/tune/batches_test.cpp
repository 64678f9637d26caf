#include "tune/batches.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem::tune {
namespace {

TEST(Batches, WhatOneBatchShowsIsTakenOverWithTheOverheadOfTheOther) {
  // samples 4 s, overhead 32 s a batch; two cores halve the samples' part and leave the overhead.
  const auto one = [](double batch) { return 4 + 32 / batch; };
  const auto two = [](double batch) { return 2 + 32 / batch; };
  const std::vector<BatchSeen> seen{{8, one(8), {}}, {32, one(32), {}}, {64, one(64), two(64)}};
  EXPECT_NEAR(*expected_ratio(8, seen), two(8) / one(8), 1e-9);        // smaller: less to share
  EXPECT_NEAR(*expected_ratio(512, seen), two(512) / one(512), 1e-9);  // larger: more
}

// LeNet5 on 12 000 images, one core of two against both, as measured by bench/pipetune: batch 64 told, batch
// 32 asked; it took 0.74.
TEST(Batches, LeNet) {
  const std::vector<BatchSeen> seen{{32, 0.81, {}}, {64, 0.745, 0.52}};
  EXPECT_NEAR(*expected_ratio(32, seen), 0.74, 0.04);
}

TEST(Batches, OneBatchAloneIsTakenAsItIsAndNoneSaysNothing) {
  EXPECT_DOUBLE_EQ(*expected_ratio(16, std::vector<BatchSeen>{{16, 2, 1.5}}), 0.75);
  EXPECT_DOUBLE_EQ(*expected_ratio(0, std::vector<BatchSeen>{{0, 2, 3.0}}), 1.5);
  EXPECT_FALSE(expected_ratio(16, std::vector<BatchSeen>{{16, 2, {}}, {32, 1, {}}}));
  EXPECT_FALSE(expected_ratio(16, {}));
}

// Seen: epochs of 0.2 ms, timed six times quicker on two cores by chance; asked: one that sleeps for 0.5 s.
TEST(Batches, EpochsTooShortToTellSayNothingOfLongOnes) {
  EXPECT_FALSE(expected_ratio(64, std::vector<BatchSeen>{{8, 0.0002, 0.00003}, {64, 0.5, {}}}));
  EXPECT_DOUBLE_EQ(*expected_ratio(64, std::vector<BatchSeen>{{8, 0.0002, 0.00003}, {64, 0.5, {}}, {32, 0.5, 0.5}}), 1);
}

TEST(Batches, MoreCoresHelpNoMoreThanInProportion) {
  const Resources one{1, 0, 1.0}, two{2, 0, 1.0}, four{4, 0, 0.5};
  EXPECT_DOUBLE_EQ(least_ratio(one, two), 0.5);
  EXPECT_DOUBLE_EQ(least_ratio(one, four), 0.5);
  EXPECT_DOUBLE_EQ(least_ratio(two, one), 0) << "fewer may be quicker";
  Resources other = two;
  other.precision = Precision::bf16;
  EXPECT_DOUBLE_EQ(least_ratio(one, other), 0) << "that is not the cores' doing";
  EXPECT_DOUBLE_EQ(*expected_ratio(64, std::vector<BatchSeen>{{32, 1, 0.2}}, least_ratio(one, two)), 0.5);
}

}  // namespace
}  // namespace tandem::tune
