#include "measure/channel.h"

#include <gtest/gtest.h>

namespace tandem::measure {
namespace {

TEST(GrowingChannel, MeanRateBetweenTakes) {
  GrowingChannel channel;
  EXPECT_FALSE(channel.take());
  channel.update(Seconds{10}, 100);
  EXPECT_FALSE(channel.take()) << "one reading is no stretch";
  EXPECT_EQ(channel.update(Seconds{11}, 130), 30);
  channel.update(Seconds{14}, 140);
  EXPECT_DOUBLE_EQ(*channel.take(), 10);
  channel.update(Seconds{15}, 147);
  EXPECT_DOUBLE_EQ(*channel.take(), 7) << "the next stretch begins at the last reading";
}

TEST(GrowingChannel, GoingBackwardsCountsAsNothing) {
  GrowingChannel channel;
  channel.update(Seconds{0}, 100);
  EXPECT_EQ(channel.update(Seconds{1}, 40), 0);
  EXPECT_EQ(channel.update(Seconds{2}, 60), 20);
  EXPECT_DOUBLE_EQ(*channel.take(), 10);
}

TEST(LevelChannel, TrapezoidOfALine) {
  LevelChannel channel;
  channel.update(Seconds{0}, 0);
  channel.update(Seconds{1}, 10);
  channel.update(Seconds{4}, 40);
  EXPECT_DOUBLE_EQ(*channel.take(), 20);
  channel.update(Seconds{5}, 40);
  EXPECT_DOUBLE_EQ(*channel.take(), 40);
}

TEST(ScaledChannel, EnabledOverRunning) {
  ScaledChannel channel;
  channel.update(Seconds{0}, {0, 0, 0});
  EXPECT_DOUBLE_EQ(channel.update(Seconds{1}, {100, 1000, 250}), 400);
  EXPECT_DOUBLE_EQ(channel.update(Seconds{2}, {200, 2000, 1250}), 100) << "each step has its own scale";
  EXPECT_DOUBLE_EQ(*channel.take(), 250);
}

TEST(ScaledChannel, WaitingForATurnIsNotZero) {
  ScaledChannel channel;
  channel.update(Seconds{0}, {0, 0, 0});
  channel.update(Seconds{1}, {0, 1000, 0});
  EXPECT_FALSE(channel.take()) << "never on a register: not measured";
  channel.update(Seconds{2}, {50, 2000, 500});
  EXPECT_DOUBLE_EQ(*channel.take(), 100) << "the reading after covers both seconds";
}

TEST(ScaledChannel, SleepingIsZero) {
  ScaledChannel channel;
  channel.update(Seconds{0}, {10, 1000, 1000});
  channel.update(Seconds{5}, {10, 1000, 1000});
  EXPECT_DOUBLE_EQ(*channel.take(), 0);
}

TEST(ScaledChannel, AResetBeginsAgain) {
  ScaledChannel channel;
  channel.update(Seconds{0}, {1000, 1000, 1000});
  EXPECT_DOUBLE_EQ(channel.update(Seconds{1}, {5, 10, 10}), 0);
  channel.update(Seconds{2}, {25, 20, 20});
  EXPECT_DOUBLE_EQ(*channel.take(), 20);
}

}  // namespace
}  // namespace tandem::measure
