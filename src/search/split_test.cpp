#include "search/split.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace tandem::search {
namespace {

using Trials = std::vector<TrialId>;

TEST(Split, TheBestTenthIsGoodBestFirst) {
  Split split(1, 10);
  std::vector<std::pair<double, TrialId>> all;
  Random random(1);
  for (TrialId i = 0; i < 200; ++i) {
    all.emplace_back(random.uniform(), i);
    split.observe(i, 1, {all.back().first});
  }
  std::sort(all.begin(), all.end());
  Trials best;
  for (std::size_t i = 0; i < 20; ++i) best.push_back(all[i].second);
  EXPECT_EQ(split.good(), best);
}

TEST(Split, AtLeastThreeAndAtMostTwentyFive) {
  Split split(1, 10);
  split.observe(0, 1, {5});
  EXPECT_EQ(split.good(), Trials{0});
  for (TrialId i = 1; i < 12; ++i) split.observe(i, 1, {static_cast<double>(i)});
  EXPECT_EQ(split.good(), (Trials{1, 2, 3}));
  for (TrialId i = 12; i < 2000; ++i) split.observe(i, 1, {static_cast<double>(i)});
  EXPECT_EQ(split.good().size(), 25u);
}

TEST(Split, TrialsAreComparedAtTheHighestEpochThatEnoughReached) {
  Split split(1, 4);
  for (TrialId i = 0; i < 6; ++i) split.observe(i, 1, {static_cast<double>(i)});  // 0 is best after one epoch
  EXPECT_EQ(split.epoch(), 1);
  EXPECT_EQ(split.good(), (Trials{0, 1, 2}));
  for (TrialId i = 2; i < 6; ++i)
    split.observe(i, 2, {10.0 - static_cast<double>(i)});  // 5 is best after two
  EXPECT_EQ(split.epoch(), 2);
  EXPECT_EQ(split.good(), (Trials{5, 4, 3}));
  split.observe(2, 3, {-100});  // only one has come so far: it does not count yet
  EXPECT_EQ(split.good(), (Trials{5, 4, 3}));
}

TEST(Split, TrialsThatRanLessComeAfterHoweverGoodTheyLook) {
  Split split(1, 2);
  split.observe(0, 1, {-50});
  for (TrialId i = 1; i < 3; ++i)
    for (std::int64_t epoch = 1; epoch <= 3; ++epoch) split.observe(i, epoch, {static_cast<double>(i)});
  split.observe(3, 1, {0});
  split.observe(3, 2, {0});
  EXPECT_EQ(split.good(), (Trials{1, 2, 3}));  // then 3, which ran two epochs; 0 ran one
}

TEST(Split, FailedTrialsAreNeverGood) {
  Split split(1, 2);
  for (TrialId i = 0; i < 5; ++i) split.observe(i, 1, {static_cast<double>(i)});
  split.failed(0);
  split.failed(7);  // before it reported
  EXPECT_EQ(split.good(), (Trials{1, 2, 3}));
  EXPECT_EQ(split.reported(), 4);
  split.observe(0, 2, {-1});  // too late
  EXPECT_EQ(split.good(), (Trials{1, 2, 3}));
}

TEST(Split, AnAttemptThatBeganAgainChangesNothing) {
  Split split(1, 2);
  for (TrialId i = 0; i < 4; ++i) split.observe(i, 1, {static_cast<double>(i)});
  split.observe(0, 1, {99});
  EXPECT_EQ(split.good(), (Trials{0, 1, 2}));
}

TEST(Split, SeveralGoalsAreSplitByDominationThenCrowding) {
  Split split(2, 2);
  split.observe(0, 1, {5, 5});  // dominated
  split.observe(1, 1, {0, 4});
  split.observe(2, 1, {4, 0});
  split.observe(3, 1, {0.1, 3.9});  // on the front, but crowded
  split.observe(4, 1, {2, 2});
  split.observe(5, 1, {6, 6});
  auto good = split.good();
  std::sort(good.begin(), good.end());
  EXPECT_EQ(good, (Trials{1, 2, 4}));
}

}  // namespace
}  // namespace tandem::search
