#include "app/tune_results.h"

#include <gtest/gtest.h>

namespace tandem::app {
namespace {

JobView after(double seconds, spec::Budget budget = {}) {
  spec::TuneJob tune;
  tune.budget = budget;
  JobView job;
  job.spec = tune;
  job.active = Seconds{seconds};
  return job;
}

TEST(ExpectedLeft, IsNotKnownBeforeSomethingIsDone) {
  EXPECT_FALSE(expected_left(after(10), 0.01, {}));
  EXPECT_DOUBLE_EQ(expected_left(after(10), 0.25, {})->value, 30);
  EXPECT_FALSE(expected_left(after(10), 1, {})) << "all is done";
}

TEST(ExpectedLeft, ABudgetEndsItSooner) {
  EXPECT_DOUBLE_EQ(expected_left(after(10, {Seconds{15}, {}}), 0.25, {})->value, 5);
  EXPECT_DOUBLE_EQ(expected_left(after(10, {Seconds{15}, {}}), 0.01, {})->value, 5) << "that much is known";
  EXPECT_DOUBLE_EQ(expected_left(after(10, {Seconds{100}, {}}), 0.25, {})->value, 30);
  EXPECT_DOUBLE_EQ(expected_left(after(20, {Seconds{15}, {}}), 0.25, {})->value, 0);
  EXPECT_DOUBLE_EQ(expected_left(after(10, {{}, Joules{200}}), 0.25, Joules{100})->value, 10);
}

}  // namespace
}  // namespace tandem::app
