#include "runtime/common/clock.h"

#include <gtest/gtest.h>

namespace tandem::runtime {
namespace {

double day = 0, span = 0;

TEST(WorldClock, BeginsWithTheDayAndDoesNotFollowItsJumps) {
  day = 1.7e9, span = 50;
  const WorldClock clock([] { return Seconds{day}; }, [] { return Seconds{span}; });
  EXPECT_EQ(clock.now(), Seconds{1.7e9});
  span += 30, day += 3600;  // somebody set it
  EXPECT_EQ(clock.now(), Seconds{1.7e9 + 30});
  span += 1, day -= 7200;
  EXPECT_EQ(clock.now(), Seconds{1.7e9 + 31});
}

TEST(WorldClock, OfThisMachineIsOfToday) {
  EXPECT_NEAR(WorldClock().now().value, wall().value, 60);
}

}  // namespace
}  // namespace tandem::runtime
