#include "measure/gpu_profile.h"

#include <gtest/gtest.h>

#include "platform/fake_nvml.h"

namespace tandem::measure {
namespace {

struct GpuProfiles : testing::Test {
  platform::FakeNvml fake;
  Seconds now{100};
  std::string why;
  GpuProfile profile{platform::Nvml::open(why, fake.lookup()), [this] { return now; }};

  GpuProfiles() {
    fake.percent = {0, 0};
    fake.limit = {400'000, 400'000};
    profile.step(now);
  }
  // So long the first GPU is so busy and draws so much.
  void passes(double seconds, unsigned percent, double watts) {
    now = now + Seconds{seconds};
    fake.percent[0] = percent;
    fake.millijoules[0] += static_cast<unsigned long long>(watts * seconds * 1000);
    profile.step(now);
  }
  Metrics take(TaskId task = 1) {
    Metrics out;
    profile.take(task, out);
    return out;
  }
};

TEST_F(GpuProfiles, MeansAreOverTimeAndAStretchEndsWhenItIsTaken) {
  profile.uses(1, {"GPU-0"});
  fake.used[0] = 10'000;
  fake.memory_percent[0] = 30;
  passes(3, 100, 300);
  passes(1, 20, 100);
  auto rates = take();
  EXPECT_DOUBLE_EQ(rates.at("gpu-busy"), (3 * 1.0 + 1 * 0.2) / 4);
  EXPECT_DOUBLE_EQ(rates.at("gpu-power-share"), (3 * 300 + 100) / (4 * 400.0));
  EXPECT_DOUBLE_EQ(rates.at("gpu-memory-bytes"), 10'000);
  EXPECT_DOUBLE_EQ(rates.at("gpu-memory-busy"), 0.3);
  EXPECT_TRUE(take().empty()) << "no time has passed";
  passes(1, 50, 200);
  EXPECT_DOUBLE_EQ(take().at("gpu-busy"), 0.5) << "what was before is told";
}

TEST_F(GpuProfiles, ShareOfPowerIsOfTheLimitOfThatTime) {
  profile.uses(1, {"0"});
  passes(1, 100, 390);
  fake.limit[0] = 200'000;
  passes(1, 100, 195);
  EXPECT_NEAR(take().at("gpu-power-share"), (390 + 195) / (400.0 + 200.0), 1e-9);
}

TEST_F(GpuProfiles, SeveralGpusAreAveragedAndOnlyTheTasksOwnCount) {
  fake.percent[1] = 40;
  profile.uses(1, {"GPU-0", "GPU-1"});
  profile.uses(2, {"GPU-1"});
  passes(2, 100, 100);
  EXPECT_DOUBLE_EQ(take(1).at("gpu-busy"), 0.7);
  EXPECT_DOUBLE_EQ(take(2).at("gpu-busy"), 0.4);
  profile.uses(1, {});
  passes(1, 100, 100);
  EXPECT_TRUE(take(1).empty()) << "it has none any more";
  EXPECT_FALSE(take(2).empty());
}

TEST_F(GpuProfiles, WhatWasNotToldAtSomeMomentIsLeftOutOfThatStretchOnly) {
  profile.uses(1, {"GPU-0"});
  passes(1, 100, 100);
  fake.failing = {"nvmlDeviceGetUtilizationRates"};
  passes(1, 100, 100);
  fake.failing.clear();
  auto rates = take();
  EXPECT_FALSE(rates.contains("gpu-busy"));
  EXPECT_TRUE(rates.contains("gpu-power-share"));
  passes(1, 100, 100);
  EXPECT_TRUE(take().contains("gpu-busy"));
  fake.millijoules[0] = 0;  // the driver was loaded anew
  profile.step(now = now + Seconds{1});
  rates = take();
  EXPECT_FALSE(rates.contains("gpu-power-share"));
  EXPECT_TRUE(rates.contains("gpu-busy"));
}

TEST_F(GpuProfiles, OfAGpuThatIsNotHereNothingIsTold) {
  profile.uses(1, {"GPU-0", "GPU-7"});
  passes(1, 100, 100);
  EXPECT_TRUE(take().empty());
  EXPECT_TRUE(take(99).empty());
}

}  // namespace
}  // namespace tandem::measure
