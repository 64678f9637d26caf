#include "stats/training/speed_up.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem::stats {
namespace {

using Measured = std::vector<std::pair<int, double>>;

TEST(SpeedUp, FindsBothPartsAndPredictsOtherCores) {
  const SpeedUp found = fit_speed_up(Measured{{1, 10}, {2, 6}, {4, 4}});
  EXPECT_NEAR(found.parallel, 8, 1e-9);
  EXPECT_NEAR(found.serial, 2, 1e-9);
  EXPECT_NEAR(found.seconds(8), 3, 1e-9);
}

TEST(SpeedUp, NeitherPartIsBelowZero) {
  const SpeedUp slower = fit_speed_up(Measured{{1, 1}, {2, 2}});  // more cores made it slower
  EXPECT_EQ(slower.parallel, 0);
  EXPECT_NEAR(slower.serial, 1.5, 1e-9);
  const SpeedUp super = fit_speed_up(Measured{{1, 10}, {2, 4}});
  EXPECT_EQ(super.serial, 0);
  EXPECT_GT(super.parallel, 0);
}

TEST(SpeedUp, OneNumberOfCoresIsSplitAsUsual) {
  const SpeedUp one = fit_speed_up(Measured{{1, 10}, {1, 10}});
  EXPECT_NEAR(one.parallel, 8, 1e-9);
  EXPECT_NEAR(one.serial, 2, 1e-9);
  EXPECT_NEAR(fit_speed_up(Measured{{4, 4}}).seconds(4), 4, 1e-9);
}

}  // namespace
}  // namespace tandem::stats
