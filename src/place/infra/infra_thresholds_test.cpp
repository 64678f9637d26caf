#include "place/infra/infra_thresholds.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace tandem::place {
namespace {

// Runs of a class that spends these parts of its time, under loads that have nothing to do with each other.
JobClasses learned(const Shares& spent, int runs, double noise = 0) {
  JobClasses out;
  Random random(3);
  for (int i = 0; i < runs; ++i) {
    Shares in_use;
    double seconds_each = 2;
    for (std::size_t r = 0; r < kResources; ++r) {
      in_use.of[r] = random.uniform(0, 0.8);
      seconds_each += 2 * spent.of[r] * in_use.of[r] / (1 - in_use.of[r]);
    }
    out.ran("cnn", in_use, seconds_each * (1 + noise * random.normal()));
  }
  return out;
}

TEST(Thresholds, AreThoseAtFirstUntilThereAreEnoughRuns) {
  const ThresholdOptions options;
  JobClasses classes;
  Shares in_use;
  for (std::size_t i = 0; i + 1 < options.least_runs; ++i) {
    in_use[Resource::gpu] = 0.05 * static_cast<double>(i);
    classes.ran("cnn", in_use, 1 / (1 - in_use[Resource::gpu]));
  }
  EXPECT_EQ(classes.thresholds("cnn"), options.at_first);
  classes.ran("cnn", in_use, 1 / (1 - in_use[Resource::gpu]));
  EXPECT_NE(classes.thresholds("cnn"), options.at_first);
  EXPECT_EQ(classes.thresholds("other"), options.at_first) << "each class has its own";
}

TEST(Thresholds, AreLowWhereAClassSpendsItsTime) {
  const auto classes = learned({{0.1, 0, 0.25, 0.75, 0}}, 40);
  const Shares spent = classes.time_spent("cnn"), limits = classes.thresholds("cnn");
  EXPECT_NEAR(spent[Resource::gpu], 0.75, 0.01);
  EXPECT_NEAR(spent[Resource::network], 0.25, 0.01);
  EXPECT_NEAR(limits[Resource::gpu], 0.25, 0.01);
  EXPECT_NEAR(limits[Resource::network], 0.5, 0.01);
  EXPECT_NEAR(limits[Resource::cpu], 0.25 / 0.35, 0.02);
  EXPECT_EQ(limits[Resource::memory], 0.9) << "filling it slows nobody, but ends jobs";
}

TEST(Thresholds, BearNoise) {
  const Shares limits = learned({{0, 0, 0, 1, 0}}, 60, 0.05).thresholds("cnn");
  EXPECT_NEAR(limits[Resource::gpu], 0.2, 0.05);
  EXPECT_GT(limits[Resource::cpu], 0.6);
}

TEST(Thresholds, FollowAClassThatChanges) {
  auto classes = learned({{0, 0, 0, 1, 0}}, 64);
  Random random(5);
  for (int i = 0; i < 64; ++i) {  // its GPU part is gone
    Shares in_use;
    in_use[Resource::gpu] = random.uniform(0, 0.8);
    classes.ran("cnn", in_use, 1);
  }
  EXPECT_EQ(classes.runs("cnn"), 64u);
  EXPECT_EQ(classes.thresholds("cnn")[Resource::gpu], 0.8) << "more was not tried";
}

TEST(Thresholds, RiseNoHigherThanWhatWasTried) {
  JobClasses classes;
  for (int i = 0; i < 10; ++i) {
    Shares in_use;
    in_use[Resource::cpu] = i / 9.0;
    classes.ran("gpu-bound", in_use, 1);
  }
  const Shares limits = classes.thresholds("gpu-bound");
  EXPECT_GT(limits[Resource::cpu], kFull) << "it does not mind a CPU that is full";
  EXPECT_EQ(limits[Resource::network], 0.8) << "never busy, so nothing is known";
}

TEST(Thresholds, SharesThatAlwaysGoTogetherDivideTheBlame) {
  JobClasses classes;
  for (int i = 0; i < 20; ++i) {
    Shares in_use;
    in_use[Resource::gpu] = in_use[Resource::gpu_memory] = 0.04 * i;
    classes.ran("cnn", in_use, 1 / (1 - 0.04 * i));
  }
  const Shares spent = classes.time_spent("cnn");
  EXPECT_NEAR(spent[Resource::gpu] + spent[Resource::gpu_memory], 1, 0.02);
}

TEST(Thresholds, RefuseWhatCannotBe) {
  JobClasses classes;
  EXPECT_THROW(classes.ran("cnn", {}, 0), SystemError);
  EXPECT_THROW(classes.ran("cnn", {{2, 0, 0, 0, 0}}, 1), SystemError);
  EXPECT_EQ(classes.runs("cnn"), 0u);
}

}  // namespace
}  // namespace tandem::place
