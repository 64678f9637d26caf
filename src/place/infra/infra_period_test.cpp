#include "place/infra/infra_period.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace tandem::place {
namespace {

TEST(Period, StartsAtTenSecondsAndStaysWhileLookingIsCheap) {
  Period period;
  EXPECT_EQ(period.now().value, 10);
  EXPECT_EQ(period.looked({0.002}).value, 10);
  EXPECT_EQ(period.looked({0.05}).value, 10) << "exactly the share";
}

TEST(Period, LengthensAtOnceAndComesBackByHalves) {
  Period period;
  EXPECT_DOUBLE_EQ(period.looked({0.4}).value, 80);
  EXPECT_DOUBLE_EQ(period.looked({0.01}).value, 45);
  EXPECT_DOUBLE_EQ(period.looked({0.01}).value, 27.5);
  for (int i = 0; i < 60; ++i) period.looked({0.01});
  EXPECT_NEAR(period.now().value, 10, 1e-9);
}

TEST(Period, NoStretchOfTimeCostsMoreThanHalfAPercentOfACore) {
  Random random(7);
  Period period;
  double cost = 0, time = 0;
  for (int i = 0; i < 2000; ++i) {
    const Seconds look{random.exponential(i % 100 < 10 ? 5 : 0.03)};  // sometimes the machine is swamped
    cost += look.value;
    time += period.looked(look).value;
    ASSERT_LE(cost, 0.005 * time * (1 + 1e-12));
  }
}

TEST(Period, RefusesACostThatCannotBe) {
  Period period;
  EXPECT_THROW(period.looked({-1}), SystemError);
  EXPECT_THROW(period.looked({std::numeric_limits<double>::quiet_NaN()}), SystemError);
  EXPECT_EQ(period.now().value, 10);
}

}  // namespace
}  // namespace tandem::place
