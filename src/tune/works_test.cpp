#include "tune/works.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::tune {
namespace {

const Resources kOne{1, 0, 1.0}, kTwo{2, 0, 1.0};

EpochRecord epoch(double seconds, const Resources& system) {
  EpochRecord record;
  record.seconds = Seconds{seconds};
  record.granted = system;
  record.energy = Energy{Joules{10 * seconds}, "test"};
  record.profile.rates = {{"task-clock", 1e9}};
  return record;
}

TEST(Work, TwoSlowEpochsAreNoiseAndThreeInARowAreAShift) {
  Work work(32, kOne);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(work.add(epoch(1, kOne), false));
  // A machine with two moods: once a mood has been seen, it surprises no more.
  for (double seconds : {2.0, 2.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0})
    EXPECT_FALSE(work.add(epoch(seconds, kOne), false));
  EXPECT_FALSE(work.add(epoch(5, kOne), false));
  EXPECT_FALSE(work.add(epoch(5, kOne), false));
  EXPECT_TRUE(work.add(epoch(5, kOne), false));
  EXPECT_DOUBLE_EQ(work.cost(kOne).seconds, 5) << "what was before is forgotten";
}

TEST(Work, LongerAndShorterAreNoShift) {
  Work work(32, kOne);
  work.add(epoch(1, kOne), false);
  for (double seconds : {2.0, 0.5, 2.0, 0.5}) EXPECT_FALSE(work.add(epoch(seconds, kOne), false));
}

TEST(Work, FirstEpochsAreScaledByHowMuchShorterLaterOnesAre) {
  Work work(32, kOne);
  work.add(epoch(7, kOne), true);
  EXPECT_DOUBLE_EQ(work.cost(kOne).seconds, 7);
  EXPECT_DOUBLE_EQ(work.cost(kOne, 0.3).seconds, 2.1) << "as other works show";
  work.add(epoch(2, kOne), false);
  work.add(epoch(3.5, kTwo), true);
  EXPECT_DOUBLE_EQ(work.cost(kOne).seconds, 2);
  EXPECT_DOUBLE_EQ(work.cost(kTwo, 0.9).seconds, 1) << "as it has shown itself";
  EXPECT_DOUBLE_EQ(*work.cost(kTwo).joules, 10);
  const auto known = work.known("m");
  ASSERT_TRUE(known);
  EXPECT_DOUBLE_EQ(known->first_seconds, 7);
  EXPECT_DOUBLE_EQ(known->measured.front().seconds, 2);
}

// Two cores looked worse than one, perhaps because something else was going on: four are worth a look still.
TEST(Work, OneNumberOfCoresInVainLeavesHopeForMoreAndTwoLeaveNone) {
  const Resources four{4, 0, 1.0}, eight{8, 0, 1.0};
  Work work(32, kOne);
  EXPECT_TRUE(std::isinf(work.hoped(kTwo))) << "nothing is known";
  work.add(epoch(2, kOne), false);
  work.add(epoch(2.4, kTwo), false);
  EXPECT_GT(work.cost(four).seconds, 1.9) << "what the law makes of it";
  EXPECT_DOUBLE_EQ(work.hoped(four), 2 * usual_share(4));
  EXPECT_TRUE(std::isinf(work.hoped(kOne)));
  work.add(epoch(1, four), false);
  EXPECT_DOUBLE_EQ(work.hoped(eight), usual_share(8) / usual_share(4));
  Work vain(32, kOne);
  for (const auto& [seconds, system] : {std::pair(2.0, kOne), {2.4, kTwo}, {2.3, four}})
    vain.add(epoch(seconds, system), false);
  EXPECT_TRUE(std::isinf(vain.hoped(eight)));
}

TEST(Work, WhatIsAdoptedIsScaledByFirstEpochs) {
  Work known(32, kOne);
  known.add(epoch(7, kOne), true);
  known.add(epoch(2, kOne), false);
  known.add(epoch(1.2, kTwo), false);
  Work twice(32, kOne);
  twice.add(epoch(14, kOne), true);
  twice.adopt(*known.known("m"));
  EXPECT_TRUE(twice.reused());
  EXPECT_DOUBLE_EQ(twice.cost(kOne).seconds, 4);
  EXPECT_DOUBLE_EQ(twice.cost(kTwo).seconds, 2.4);
  twice.add(epoch(3, kTwo), false);
  EXPECT_DOUBLE_EQ(twice.cost(kTwo).seconds, 3) << "what it sees itself beats what it was told";
}

}  // namespace
}  // namespace tandem::tune
