#include "tune/workload_class.h"

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

TEST(WorkloadClass, TwoSlowEpochsAreNoiseAndThreeInARowAreAShift) {
  WorkloadClass workload(32, kOne);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(workload.add(epoch(1, kOne), false));
  // A machine with two moods: once a mood has been seen, it surprises no more.
  for (double seconds : {2.0, 2.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0})
    EXPECT_FALSE(workload.add(epoch(seconds, kOne), false));
  EXPECT_FALSE(workload.add(epoch(5, kOne), false));
  EXPECT_FALSE(workload.add(epoch(5, kOne), false));
  EXPECT_TRUE(workload.add(epoch(5, kOne), false));
  EXPECT_DOUBLE_EQ(workload.cost(kOne).seconds, 5) << "what was before is forgotten";
}

TEST(WorkloadClass, LongerAndShorterAreNoShift) {
  WorkloadClass workload(32, kOne);
  workload.add(epoch(1, kOne), false);
  for (double seconds : {2.0, 0.5, 2.0, 0.5}) EXPECT_FALSE(workload.add(epoch(seconds, kOne), false));
}

TEST(WorkloadClass, FirstEpochsAreScaledByHowMuchShorterLaterOnesAre) {
  WorkloadClass workload(32, kOne);
  workload.add(epoch(7, kOne), true);
  EXPECT_DOUBLE_EQ(workload.cost(kOne).seconds, 7);
  EXPECT_DOUBLE_EQ(workload.cost(kOne, 0.3).seconds, 2.1) << "as other works show";
  workload.add(epoch(2, kOne), false);
  workload.add(epoch(3.5, kTwo), true);
  EXPECT_DOUBLE_EQ(workload.cost(kOne).seconds, 2);
  EXPECT_DOUBLE_EQ(workload.cost(kTwo, 0.9).seconds, 1) << "as it has shown itself";
  EXPECT_DOUBLE_EQ(*workload.cost(kTwo).joules, 10);
  const auto known = workload.known("m");
  ASSERT_TRUE(known);
  EXPECT_DOUBLE_EQ(known->first_seconds, 7);
  EXPECT_DOUBLE_EQ(known->measured.front().seconds, 2);
}

// Two cores looked worse than one, perhaps because something else was going on: four are worth a look still.
TEST(WorkloadClass, OneNumberOfCoresInVainLeavesHopeForMoreAndTwoLeaveNone) {
  const Resources four{4, 0, 1.0}, eight{8, 0, 1.0};
  WorkloadClass workload(32, kOne);
  EXPECT_TRUE(std::isinf(workload.hoped(kTwo))) << "nothing is known";
  workload.add(epoch(2, kOne), false);
  workload.add(epoch(2.4, kTwo), false);
  EXPECT_GT(workload.cost(four).seconds, 1.9) << "what the law makes of it";
  EXPECT_DOUBLE_EQ(workload.hoped(four), 2 * usual_share(4));
  EXPECT_TRUE(std::isinf(workload.hoped(kOne)));
  workload.add(epoch(1, four), false);
  EXPECT_DOUBLE_EQ(workload.hoped(eight), usual_share(8) / usual_share(4));
  WorkloadClass vain(32, kOne);
  for (const auto& [seconds, system] : {std::pair(2.0, kOne), {2.4, kTwo}, {2.3, four}})
    vain.add(epoch(seconds, system), false);
  EXPECT_TRUE(std::isinf(vain.hoped(eight)));
}

TEST(WorkloadClass, WhatIsAdoptedIsScaledByFirstEpochs) {
  WorkloadClass known(32, kOne);
  known.add(epoch(7, kOne), true);
  known.add(epoch(2, kOne), false);
  known.add(epoch(1.2, kTwo), false);
  WorkloadClass twice(32, kOne);
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
