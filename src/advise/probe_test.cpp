#include "advise/probe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "advise/models.h"
#include "base/error.h"

namespace tandem::advise {
namespace {

Setting setting(std::int64_t batch, int cores) {
  Setting out;
  out.hyper["batch_size"] = batch;
  out.system.cores = cores;
  return out;
}

std::vector<Setting> grid() {
  std::vector<Setting> out;
  for (const int batch : {32, 64, 128, 256})
    for (const int cores : {1, 2, 4}) out.push_back(setting(batch, cores));
  return out;
}

TEST(Probe, ThreeSettingsTellThreeNumbersApart) {
  const auto probes = probes_for(grid());
  ASSERT_EQ(probes.size(), 3u);
  EXPECT_EQ(probes[0].setting, setting(256, 4));
  EXPECT_EQ(probes[1].setting, setting(256, 1));
  EXPECT_EQ(probes[2].setting, setting(32, 4));
}

TEST(Probe, CandidatesThatDoNotDifferAreProbedOnce) {
  EXPECT_EQ(probes_for(std::vector{setting(64, 2), setting(64, 2)}).size(), 1u);
  EXPECT_EQ(probes_for(std::vector{setting(64, 2), setting(64, 4)}).size(), 2u);
  EXPECT_THROW(probes_for({}), UserError);
  EXPECT_THROW(probes_for(std::vector{Setting{}}), UserError);
}

TEST(StepModel, FindsTheNumbersThatMadeTheTimes) {
  const StepModel truth{0.004, 0.00002, 0.0003};
  std::vector<ProbeTime> times;
  for (const auto& probe : probes_for(grid())) {
    const double batch = *as_number(probe.setting.hyper.at("batch_size"));
    times.push_back({probe.setting, truth.seconds(batch, probe.setting.system.cores)});
  }
  const auto found = fit_step_model(times);
  EXPECT_NEAR(found.step, truth.step, 1e-9);
  EXPECT_NEAR(found.serial, truth.serial, 1e-9);
  EXPECT_NEAR(found.parallel, truth.parallel, 1e-9);
}

TEST(StepModel, NoPartIsNegative) {
  // More cores made it slower, a larger batch quicker: noise. Nothing of that may become a negative part.
  const std::vector<ProbeTime> times = {
      {setting(256, 4), 0.05}, {setting(256, 1), 0.04}, {setting(32, 4), 0.06}};
  const auto found = fit_step_model(times);
  EXPECT_GE(found.step, 0);
  EXPECT_GE(found.serial, 0);
  EXPECT_GE(found.parallel, 0);
  EXPECT_GT(found.seconds(64, 2), 0);
}

TEST(StepModel, OneTimeIsEnoughAndNoneIsNot) {
  const auto found = fit_step_model(std::vector<ProbeTime>{{setting(64, 2), 0.1}});
  EXPECT_NEAR(found.seconds(64, 2), 0.1, 1e-12);
  EXPECT_THROW(fit_step_model({}), UserError);
  EXPECT_THROW(fit_step_model(std::vector<ProbeTime>{{setting(64, 2), std::nan("")}}), UserError);
  EXPECT_THROW(fit_step_model(std::vector<ProbeTime>{{setting(64, 2), 0}}), UserError);
}

TEST(SeededHistory, AnswersAreWideAndSayWhy) {
  const StepModel truth{0.004, 0.00002, 0.0003};
  std::vector<ProbeTime> times;
  for (const auto& probe : probes_for(grid())) {
    const double batch = *as_number(probe.setting.hyper.at("batch_size"));
    times.push_back({probe.setting, truth.seconds(batch, probe.setting.system.cores)});
  }
  const auto history = seeded_history({"net/data", "here", 60'000, 4}, times, grid(), std::vector{1, 2});
  ASSERT_EQ(history.size(), 24u);
  const auto models = Models::fit(history, "net/data", "here");
  EXPECT_EQ(models.runs(), 0u);
  ASSERT_FALSE(models.notes().empty());
  EXPECT_NE(models.notes()[0].find("probe"), std::string::npos);
  const auto seconds = models.seconds(setting(64, 2), 1);
  EXPECT_TRUE(seconds.wide);
  const auto [low, high] = seconds.interval(0.9);
  EXPECT_GT(high / low, 5);
  EXPECT_NEAR(seconds.value() / (std::ceil(60'000 / 64.0) * truth.seconds(64, 2)), 1, 0.3);
  EXPECT_THROW(seeded_history({"net/data", "here", 0, 4}, times, grid(), std::vector{1}), UserError);
}

}  // namespace
}  // namespace tandem::advise
