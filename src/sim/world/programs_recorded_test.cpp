#include "sim/world/programs_recorded.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace tandem::sim {
namespace {

// A run written by hand: epochs of 0.5 s + 8 s / cores for batches of 32, half of that for batches of 256.
class Replay : public testing::Test {
 protected:
  Replay() {
    auto& node = run_.nodes.emplace_back();
    node.name = "here", node.type = "machine";
    node.capacity = node.largest = {8, 16 * kGiB, 1.0};
    node.free_cores = 8, node.free_memory = 16 * kGiB;
    run_.jobs.emplace_back();
  }
  static Values point(std::int64_t batch, double rate) {
    return {{"batch_size", batch}, {"learning_rate", rate}};
  }
  static double takes(std::int64_t batch, int cores) { return (0.5 + 8.0 / cores) / (batch > 100 ? 2 : 1); }
  TaskView& ran(std::int64_t batch, double rate, std::vector<int> cores) {
    TaskView& task = run_.tasks.emplace_back();
    task.id = static_cast<TaskId>(run_.tasks.size() - 1);
    task.trial = TrialPart{.hyper = point(batch, rate), .epochs = 9};
    task.workload = batch > 100 ? 1 : 0;
    task.state = TaskState::ended;
    for (std::size_t i = 0; i < cores.size(); ++i) {
      EpochRecord record;
      record.epoch = static_cast<std::int64_t>(i) + 1;
      record.attempt = 1;
      record.granted = {cores[i], 0, 1.0};
      record.startup.value = i == 0 ? 0.25 : 0;
      record.seconds.value = takes(batch, cores[i]) * (i == 0 ? 2 : 1) + record.startup.value;
      record.metrics["accuracy"] = rate + static_cast<double>(record.epoch);
      record.profile.rates["threads"] = cores[i];
      record.energy = Energy{Joules{30 * record.seconds.value}, "rapl"};
      record.at.value = 10.0 * static_cast<double>(i);
      task.epochs.push_back(record);
    }
    if (!task.epochs.empty()) task.ended_at = task.epochs.back().at + Seconds{0.125};
    return task;
  }
  ProgramEpoch ask(RecordedPrograms& programs, const Values& hyper, int cores, std::int64_t epoch,
                   bool first) {
    return programs.epoch({0, 0, 1, run_.jobs[0].base(), hyper, 9, {cores, 0, 1.0}, run_.nodes[0].type},
                          epoch, first);
  }

  View run_;
};

TEST_F(Replay, EpochsTakeWhatTheyTookAndReportWhatTheyReported) {
  ran(32, 0.1, {1, 1, 2, 2});
  ran(32, 0.2, {1, 1, 1, 4});
  ran(256, 0.1, {1, 2, 2});
  RecordedPrograms programs(run_);
  const auto epoch = ask(programs, point(32, 0.2), 2, 3, false);
  EXPECT_DOUBLE_EQ(epoch.seconds.value, takes(32, 2)) << "measured in another trial of its work";
  EXPECT_DOUBLE_EQ(epoch.metrics.at("accuracy"), 3.2);
  EXPECT_DOUBLE_EQ(epoch.rates.at("threads"), 2) << "of that configuration, not of that trial";
  ASSERT_TRUE(epoch.energy);
  EXPECT_NEAR(epoch.energy->joules.value, 30 * takes(32, 2), 1e-9);
  EXPECT_EQ(epoch.energy->source, "recorded (rapl)");
  EXPECT_DOUBLE_EQ(ask(programs, point(32, 0.1), 1, 1, true).seconds.value, 2 * takes(32, 1));
  EXPECT_DOUBLE_EQ(ask(programs, point(256, 0.1), 2, 2, false).seconds.value, takes(256, 2));
  EXPECT_EQ(programs.guesses().points + programs.guesses().beyond + programs.guesses().configurations, 0);

  const std::string machine = "machine";
  const auto start =
      programs.start({0, 0, 1, run_.jobs[0].base(), run_.jobs[0].base().hyper, 9, Resources{}, machine});
  EXPECT_DOUBLE_EQ(start.startup.value, 0.25);
  EXPECT_DOUBLE_EQ(start.ending.value, 0.125);
}

TEST_F(Replay, WhatNobodyRanIsPredictedAndCountedAsAGuess) {
  ran(32, 0.1, {1, 1, 2, 2});
  ran(256, 0.1, {1, 1});
  RecordedPrograms programs(run_);
  EXPECT_NEAR(ask(programs, point(32, 0.1), 8, 2, false).seconds.value, takes(32, 8), 1e-9);
  EXPECT_NEAR(ask(programs, point(32, 0.1), 8, 1, true).seconds.value, 2 * takes(32, 8), 1e-9);
  EXPECT_EQ(programs.guesses().configurations, 2);
  const double four = ask(programs, point(256, 0.1), 4, 2, false).seconds.value;
  EXPECT_LT(four, takes(256, 1));
  EXPECT_GT(four, takes(256, 1) / 4) << "one core count tells little: most of it is taken to be parallel";

  const auto beyond = ask(programs, point(256, 0.1), 1, 7, false);
  EXPECT_DOUBLE_EQ(beyond.metrics.at("accuracy"), 2.1) << "as after the last epoch there was";
  EXPECT_EQ(programs.guesses().beyond, 1);
  const auto near = ask(programs, point(256, 0.5), 1, 1, false);
  EXPECT_DOUBLE_EQ(near.seconds.value, takes(256, 1)) << "the batch size counts most";
  EXPECT_EQ(programs.guesses().points, 1);
}

TEST_F(Replay, ATrialThatFailedFailsAgainAndOneThatWasLostDoesNot) {
  auto& crashed = ran(32, 0.1, {1, 1});
  crashed.state = TaskState::failed;
  crashed.last_failure = TaskFailed{0, 1, Failure::crashed, "exit status 7", "", {}};
  auto& lost = ran(32, 0.2, {1, 1});
  lost.state = TaskState::failed;
  lost.last_failure = TaskFailed{1, 1, Failure::lost, "gone", "", {}};
  RecordedPrograms programs(run_);
  EXPECT_EQ(ask(programs, point(32, 0.1), 1, 2, false).then, ProgramEpoch::Then::reports);
  const auto third = ask(programs, point(32, 0.1), 1, 3, false);
  EXPECT_EQ(third.then, ProgramEpoch::Then::fails);
  EXPECT_EQ(third.detail, "exit status 7");
  EXPECT_EQ(ask(programs, point(32, 0.2), 1, 3, false).then, ProgramEpoch::Then::reports);
}

TEST_F(Replay, EveryEpochIsPredictedFromTheOthers) {
  ran(32, 0.1, {1, 1, 1, 2, 2, 4});
  ran(32, 0.2, {1, 1, 1});
  auto& odd = ran(32, 0.3, {1, 1});
  odd.epochs[1].seconds.value *= 3;
  ran(256, 0.1, {1});
  const auto predictions = RecordedPrograms(run_).predictions();
  ASSERT_EQ(predictions.size(), 12u);
  for (const auto& one : predictions) {
    if (one.task == 3) {
      EXPECT_FALSE(one.predicted) << "nothing else of its work is known";
    } else if (one.task == 2 && one.epoch == 2) {
      EXPECT_NEAR(one.predicted.value() / one.measured, 1.0 / 3, 1e-9) << "it does not tell of itself";
    } else {
      ASSERT_TRUE(one.predicted);
      EXPECT_NEAR(*one.predicted / one.measured, 1, 1e-9) << one.task << " " << one.epoch;
    }
  }
  const auto errors = errors_by_task(predictions);
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_NEAR(errors[0].median, 0, 1e-9);
  EXPECT_NEAR(errors[2].median, 1.0 / 3, 1e-9) << "of one right and one off by two thirds";
  EXPECT_EQ(errors[3].unpredicted, 1);
}

TEST_F(Replay, ARunWithoutEpochsCannotBeReplayed) {
  EXPECT_THROW(RecordedPrograms programs(run_), UserError);
}

}  // namespace
}  // namespace tandem::sim
