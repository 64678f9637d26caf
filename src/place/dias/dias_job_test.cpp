#include "place/dias/dias_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/error.h"
#include "base/random.h"

namespace tandem::place {
namespace {

DiasJob one_stage(int tasks, double task, int shape = 1) {
  return {{{{{tasks, 1}}, 0, task, shape, true, 0}}};
}

// Mean and squared variation of a stage by list scheduling, as slots would run it.
std::pair<double, double> scheduled(int tasks, int slots, double task, int shape) {
  Random random(3);
  double sum = 0, square = 0;
  const int runs = 10000;
  for (int run = 0; run < runs; ++run) {
    std::priority_queue<double, std::vector<double>, std::greater<>> free;
    for (int i = 0; i < slots; ++i) free.push(0);
    double end = 0;
    for (int i = 0; i < tasks; ++i) {
      double at = free.top();
      free.pop();
      for (int k = 0; k < shape; ++k) at += random.exponential(task / shape);
      free.push(at);
      end = std::max(end, at);
    }
    sum += end, square += end * end;
  }
  const double mean = sum / runs;
  return {mean, square / runs / (mean * mean) - 1};
}

TEST(DiasJob, DroppingLeavesTheCeiling) {
  EXPECT_EQ(tasks_left(50, 0), 50);
  EXPECT_EQ(tasks_left(50, 0.1), 45);
  EXPECT_EQ(tasks_left(50, 0.2), 40);
  EXPECT_EQ(tasks_left(7, 0.1), 7);
  EXPECT_EQ(tasks_left(10, 0.99), 1);
  for (int n = 1; n < 300; ++n) EXPECT_EQ(tasks_left(10 * n, 0.3), 7 * n);
}

TEST(DiasJob, TheDropperPicksAnyTaskAlike) {
  std::vector<int> kept_times(10, 0);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto kept = kept_tasks(10, 0.4, seed);
    ASSERT_EQ(kept.size(), 6U);
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    EXPECT_EQ(kept, kept_tasks(10, 0.4, seed));
    for (const int task : kept) ++kept_times[static_cast<std::size_t>(task)];
  }
  for (const int times : kept_times) EXPECT_NEAR(times, 2400, 150);
}

// Equation 4.1 by hand: 30 tasks end at rate 20, then the last 20 one by one.
TEST(DiasJob, TaskLevelIsTheHarmonicSum) {
  double expected = 30.0 / 20;
  for (int left = 1; left <= 20; ++left) expected += 1.0 / left;
  const auto time = task_level(one_stage(50, 1), 20);
  EXPECT_EQ(time.size(), 50U);
  EXPECT_NEAR(time.mean(), expected, 1e-12);
}

TEST(DiasJob, TaskLevelMixesNumbersOfTasksAndAddsStages) {
  DiasJob job{{{{{4, 0.25}, {8, 0.75}}, 2, 1, 1, true, 0.5}, {{{3, 1}}, 1, 2, 1, false, 0.9}}};
  // Two slots; 2 or 4 tasks are left of the first stage, all 3 of the second.
  const double expected = 2 + 0.25 * 1.5 + 0.75 * 2.5 + 1 + 2 * (0.5 + 0.5 + 1);
  EXPECT_NEAR(task_level(job, 2).mean(), expected, 1e-12);
  EXPECT_NEAR(effective_drop(job), 1 - (0.25 * 2 + 0.75 * 4 + 3) / (0.25 * 4 + 0.75 * 8 + 3), 1e-12);
}

TEST(DiasJob, TaskLevelIsHowSlotsRunExponentialTasks) {
  const auto [mean, variation] = scheduled(17, 5, 3, 1);
  const auto time = task_level(one_stage(17, 3), 5);
  EXPECT_NEAR(time.mean() / mean, 1, 0.01);
  EXPECT_NEAR(time.squared_variation() / variation, 1, 0.06);
}

TEST(DiasJob, WaveLevelIsCloseForSteadyTasks) {
  for (const int tasks : {20, 40, 50}) {
    const auto [mean, variation] = scheduled(tasks, 20, 30, 100);
    const auto waves = wave_level(one_stage(tasks, 30, 100), 20);
    EXPECT_NEAR(waves.mean() / mean, 1, 0.02) << tasks;
    EXPECT_LT(waves.squared_variation(), 0.01) << tasks << ", simulated " << variation;
  }
}

TEST(DiasJob, OneWaveOfExponentialTasksIsTheSameOnBothLevels) {
  const auto waves = wave_level(one_stage(10, 4), 20), tasks = task_level(one_stage(10, 4), 20);
  EXPECT_NEAR(waves.mean() / tasks.mean(), 1, 1e-3);
  EXPECT_NEAR(waves.squared_variation() / tasks.squared_variation(), 1, 1e-2);
}

// 50 tasks on 20 slots are three waves; only a fifth less makes two of them.
TEST(DiasJob, AWaveIsSavedByDroppingEnough) {
  const auto seconds = [](double drop) {
    return wave_level(with_drop(one_stage(50, 1, 200), drop), 20).mean();
  };
  EXPECT_GT(seconds(0.1), 0.95 * seconds(0));
  EXPECT_LT(seconds(0.2), 0.75 * seconds(0));
}

TEST(DiasJob, ATrainingJobIsAStageAStep) {
  const auto job = with_drop(training_job(10, 32, 0.5, 0.2, 1), 0.25);
  EXPECT_EQ(job.stages.size(), 10U);
  double step = 0.2;
  for (int left = 24; left > 0; --left) step += 0.5 / std::min(left, 8);
  EXPECT_NEAR(processing_time(job, 8).mean(), 10 * step, 1e-9);
}

TEST(DiasJob, RefusesWhatCannotRun) {
  EXPECT_THROW(check(decltype(one_stage(5, 1)){}, "low"), UserError);
  EXPECT_THROW(check(one_stage(0, 1), "low"), UserError);
  EXPECT_THROW(check(with_drop(one_stage(5, 1), 1), "low"), UserError);
  EXPECT_THROW(check(one_stage(5, -1), "low"), UserError);
  EXPECT_THROW(task_level(one_stage(5, 1, 2), 4), UserError);
  EXPECT_NO_THROW(check(one_stage(5, 1), "low"));
}

}  // namespace
}  // namespace tandem::place
