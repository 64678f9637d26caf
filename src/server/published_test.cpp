#include "server/published.h"

#include <gtest/gtest.h>

namespace tandem::server {
namespace {

TEST(Published, TheWorldsClockGoesOnWithoutEvents) {
  const std::chrono::steady_clock::time_point moment{};
  Published out{{}, nullptr, Seconds{1000}, moment, 1};
  EXPECT_EQ(out.now(moment).value, 1000);
  EXPECT_EQ(out.now(moment + std::chrono::seconds{7}).value, 1007);
  out.pace = 60;  // a simulated minute a second
  EXPECT_EQ(out.now(moment + std::chrono::seconds{7}).value, 1420);
  EXPECT_EQ(out.now(moment - std::chrono::seconds{7}).value, 1000);
  out.view.now = Seconds{2000};
  EXPECT_EQ(out.now(moment).value, 2000) << "never before what has happened";
}

}  // namespace
}  // namespace tandem::server
