#include "sim/world/programs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::sim {
namespace {

struct Asking {
  ProgramRun run(TaskId task = 0, Attempt attempt = 1) const {
    return {task, 0, attempt, spec, hyper, epochs, granted, machine};
  }
  spec::TrainJob spec{};
  Values hyper{{"batch_size", std::int64_t{100}}};
  std::int64_t epochs = 1;
  Resources granted{};
  std::string machine = "plain";
};

TEST(FixedPrograms, AJobTakesItsTimeInEqualParts) {
  FixedPrograms programs({120, 60});
  Asking asking;
  EXPECT_DOUBLE_EQ(programs.epoch(asking.run(), 1, true).seconds.value, 120);
  asking.epochs = 4;
  asking.granted.cores = 8;
  EXPECT_DOUBLE_EQ(programs.epoch(asking.run(), 3, false).seconds.value, 30) << "whatever it is given";
  EXPECT_TRUE(programs.start(asking.run()).cannot_start.empty());
}

TEST(FixedPrograms, AJobTheTraceDoesNotHaveCannotStart) {
  FixedPrograms programs(std::vector<double>{});
  EXPECT_FALSE(programs.start(Asking().run()).cannot_start.empty());
}

TEST(CurvePrograms, CoresShareSamplesButNotTheOverheadOfABatch) {
  CurvePrograms programs({.samples = 1000,
                          .seconds_a_sample = 0.01,
                          .seconds_a_batch = 0.2,
                          .startup = 3,
                          .first = 1.5,
                          .speed_factor = {{"quick", 2}}});
  Asking asking;
  EXPECT_DOUBLE_EQ(programs.epoch(asking.run(), 2, false).seconds.value, 10 + 2);
  EXPECT_DOUBLE_EQ(programs.epoch(asking.run(), 1, true).seconds.value, 18) << "the first of its process";
  asking.granted = {4, 0, 0.5};
  const auto shared = programs.epoch(asking.run(), 2, false);
  EXPECT_DOUBLE_EQ(shared.seconds.value, (2.5 + 2) / 0.5);
  EXPECT_DOUBLE_EQ(shared.busy, (2.5 + 2.0 / 4) / 4.5);
  asking.machine = "quick";
  EXPECT_DOUBLE_EQ(programs.epoch(asking.run(), 2, false).seconds.value, 4.5);
  EXPECT_DOUBLE_EQ(programs.start(asking.run()).startup.value, 1.5);
}

TEST(CurvePrograms, TheSpreadIsASeedsAndTheSameWhenAskedAgain) {
  CurvePrograms programs({.samples = 100, .seconds_a_sample = 1, .seconds_a_batch = 0, .spread = 0.1});
  const Asking asking;
  double sum = 0, squares = 0;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    const auto run = asking.run(i, 1 + i % 3);
    const double seconds = programs.epoch(run, i % 7, false).seconds.value / 100;
    EXPECT_DOUBLE_EQ(programs.epoch(run, i % 7, false).seconds.value / 100, seconds);
    sum += seconds;
    squares += seconds * seconds;
  }
  EXPECT_NEAR(sum / n, 1, 0.01);
  EXPECT_NEAR(std::sqrt(squares / n - sum / n * sum / n), 0.1, 0.01);
}

TEST(FaultyPrograms, EpochsGoWrongAsOftenAsAskedFor) {
  CurvePrograms good({.samples = 10, .seconds_a_sample = 1});
  FaultyPrograms faulty(good, {.crash = 0.1, .kill = 0.2, .hang = 0.05, .seed = 5});
  const Asking asking;
  int crashes = 0, kills = 0, hangs = 0;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    const auto epoch = faulty.epoch(asking.run(i), 1, true);
    const bool fails = epoch.then == ProgramEpoch::Then::fails;
    crashes += fails && epoch.failure == Failure::crashed;
    kills += fails && epoch.failure == Failure::killed;
    hangs += !std::isfinite(epoch.seconds.value);
    if (fails) {
      EXPECT_LE(epoch.seconds, good.epoch(asking.run(i), 1, true).seconds);
    }
  }
  EXPECT_NEAR(crashes, 0.1 * n, 80);
  EXPECT_NEAR(kills, 0.2 * n, 100);
  EXPECT_NEAR(hangs, 0.05 * n, 60);
}

}  // namespace
}  // namespace tandem::sim
