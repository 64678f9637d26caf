#include "app/past_runs.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/running_jobs.h"
#include "base/error.h"
#include "base/random.h"

namespace tandem::app {
namespace {

using advise::LoadChange;

spec::TrainJob lenet() {
  spec::TrainJob job;
  job.program.model = "lenet5";
  job.program.dataset = "digits";
  job.hyper = {{"batch_size", std::int64_t{64}}};
  job.epochs = 3;
  return job;
}

// A task that began at `start` and ended an epoch every 10 s, on so many cores each.
TaskView task_with(TaskId id, double start, const std::vector<int>& cores) {
  TaskView task;
  task.id = id;
  task.state = TaskState::ended;
  task.started_at = Seconds{start};
  task.energy_source = "rapl";
  double at = start;
  for (const int count : cores) {
    EpochRecord record;
    record.epoch = static_cast<std::int64_t>(task.epochs.size()) + 1;
    record.seconds = Seconds{10};
    record.at = Seconds{at += 10};
    record.startup = Seconds{task.epochs.empty() ? 2.0 : 0.0};
    record.granted = {count, 0, 1.0};
    record.energy = Energy{Joules{5}, "rapl"};
    record.metrics = {{"accuracy", 0.1 * static_cast<double>(record.epoch)}, {"seconds_train", 8}};
    task.granted = record.granted;
    task.epochs.push_back(record);
  }
  task.ended_at = Seconds{at + 1};
  return task;
}

View view_of(std::vector<TaskView> tasks) {
  View view;
  NodeView node;
  node.type = "a machine, 2 cores";
  view.nodes = {node};
  JobView job;
  job.spec = lenet();
  view.jobs = {job};
  view.tasks = std::move(tasks);
  view.now = Seconds{1000};
  return view;
}

TEST(PastRuns, ATrainingIsOneRow) {
  const auto rows = past_runs_of("r", view_of({task_with(0, 100, {2, 2, 2})}));
  ASSERT_EQ(rows.size(), 1U);
  const auto& row = rows[0];
  EXPECT_EQ(row.id, "r");
  EXPECT_EQ(row.program, "lenet5/digits");
  EXPECT_EQ(row.machine, "a machine, 2 cores");
  EXPECT_EQ(row.setting.epochs, 3);
  EXPECT_EQ(row.setting.system.cores, 2);
  EXPECT_DOUBLE_EQ(row.seconds.value, 31) << "writing the model is part of it";
  EXPECT_EQ(row.epoch_seconds, (std::vector<double>{8, 10, 10})) << "without the start-up";
  ASSERT_EQ(row.metrics.size(), 3U);
  EXPECT_EQ(row.metrics[2].values, (Metrics{{"accuracy", 0.1 * 3}})) << "costs are Tandem's own to measure";
  EXPECT_DOUBLE_EQ(row.joules->value, 15);
  EXPECT_DOUBLE_EQ(advise::mean_load(row.load, row.seconds).jobs, 1);
  EXPECT_FALSE(advise::unusable(row));
}

TEST(PastRuns, ATaskWhoseCoresChangedIsARowForEachStretchAndTellsMetricsOnce) {
  const auto rows = past_runs_of("r", view_of({task_with(0, 100, {1, 1, 2})}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].setting.system.cores, 1);
  EXPECT_EQ(rows[0].setting.epochs, 2);
  EXPECT_EQ(rows[0].metrics.size(), 2U);
  EXPECT_EQ(rows[1].setting.system.cores, 2);
  EXPECT_EQ(rows[1].setting.epochs, 1);
  EXPECT_TRUE(rows[1].metrics.empty());
  EXPECT_DOUBLE_EQ((rows[0].seconds + rows[1].seconds).value, 31) << "no second is lost or counted twice";
}

TEST(PastRuns, TasksThatRanTogetherKnowOfEachOther) {
  // The second runs from 110 to 131: beside the first one's last 20 s (it ends at 131, too).
  const auto rows = past_runs_of("r", view_of({task_with(0, 100, {1, 1, 1}), task_with(1, 110, {1, 1})}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, "r#0");
  ASSERT_EQ(rows[0].load.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[0].load[0].jobs, 1);
  EXPECT_DOUBLE_EQ(rows[0].load[1].at.value, 10);
  EXPECT_DOUBLE_EQ(rows[0].load[1].jobs, 2);
  EXPECT_DOUBLE_EQ(rows[0].load[1].cores, 2);
  EXPECT_DOUBLE_EQ(advise::mean_load(rows[0].load, Seconds{30}).jobs, (10 * 1 + 20 * 2) / 30.0);
  ASSERT_EQ(rows[1].load.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[1].load[0].jobs, 2);
}

TEST(PastRuns, WhatRanBesideATaskIsWhatALookAtEveryOtherTaskSays) {
  Random random(7, 0);
  for (int round = 0; round < 50; ++round) {
    std::vector<TaskView> tasks;
    const auto count = static_cast<TaskId>(1 + random.below(30));
    for (TaskId id = 0; id < count; ++id)
      tasks.push_back(
          task_with(id, 100 + static_cast<double>(random.below(100)),
                    std::vector<int>(1 + random.below(5), static_cast<int>(1 + random.below(3)))));
    const auto view = view_of(tasks);
    const auto rows = past_runs_of("r", view);
    ASSERT_EQ(rows.size(), tasks.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Seconds from = tasks[i].started_at;
      for (double at = 0.5; from.value + at < tasks[i].epochs.back().at.value; at += 1) {
        LoadChange now{};
        for (const auto& change : rows[i].load)
          if (change.at.value <= at) now = change;
        double jobs = 0, cores = 0;
        for (const auto& other : tasks)
          if (other.started_at.value <= from.value + at && other.ended_at.value > from.value + at)
            jobs += 1, cores += other.granted.cores;
        EXPECT_EQ(now.jobs, jobs) << "task " << i << " after " << at;
        EXPECT_EQ(now.cores, cores);
      }
    }
  }
}

TEST(PastRuns, TasksOnOtherNodesAreNoNeighboursButThoseOnLanesAre) {
  auto view = view_of({task_with(0, 100, {1, 1}), task_with(1, 100, {1, 1})});
  view.nodes[0].name = "here";
  view.nodes.push_back(view.nodes[0]);
  view.tasks[1].node = 1;
  view.nodes[1].name = "there";
  EXPECT_DOUBLE_EQ(past_runs_of("r", view).at(0).load.at(0).jobs, 1);
  view.nodes[1].name = "here-lane-2";
  EXPECT_DOUBLE_EQ(past_runs_of("r", view).at(0).load.at(0).jobs, 2);
}

TEST(PastRuns, WhatWasSeenBesideARunWhenItBeganIsPartOfItsLoad) {
  const auto view = view_of({task_with(0, 100, {2, 2, 2})});
  EXPECT_DOUBLE_EQ(past_runs_of("r", view).at(0).load.at(0).jobs, 1);
  const auto alike = past_runs_of("r", view, 2.5).at(0);
  EXPECT_DOUBLE_EQ(alike.load.at(0).jobs, 2.5);
  EXPECT_DOUBLE_EQ(alike.load.at(0).cores, 2.5 * alike.setting.system.cores) << "jobs like itself";
  const auto beside = past_runs_of("r", view, {3, 4.5}).at(0);
  EXPECT_DOUBLE_EQ(beside.load.at(0).cores, 4.5);
}

TEST(PastRuns, NothingIsLearntFromFailuresAndFromWhatReportedNothing) {
  auto failed = task_with(0, 100, {1});
  failed.state = TaskState::failed;
  EXPECT_TRUE(past_runs_of("r", view_of({failed, task_with(1, 100, {})})).empty());
}

TEST(PastRuns, EnergyThatIsNotKnownIsNotZero) {
  auto task = task_with(0, 100, {1, 1});
  task.epochs[1].energy.reset();
  EXPECT_FALSE(past_runs_of("r", view_of({task}))[0].joules);
}

TEST(PastRuns, AreTheSameAfterTheStore) {
  const auto row = past_runs_of("r", view_of({task_with(0, 100, {1, 1, 1}), task_with(1, 110, {1, 1})}))[0];
  const auto back = past_run_from_json(nlohmann::json::parse(to_json(row).dump()));
  EXPECT_EQ(to_json(back), to_json(row));
  EXPECT_EQ(back.setting, row.setting);
  EXPECT_EQ(back.load, row.load);
  EXPECT_EQ(back.epoch_seconds, row.epoch_seconds);
  EXPECT_THROW(past_run_from_json(nlohmann::json::parse(R"({"id": 3})")), SystemError);
}

TEST(PastRuns, ACommandIsKnownByItsWords) {
  spec::Program program;
  program.command = {"python3", "train.py"};
  EXPECT_EQ(program_name(program), "python3 train.py");
}

TEST(RunningJobs, KnowHowMuchIsLeftAndByWhenTheyShouldEnd) {
  auto task = task_with(0, 100, {2, 2});  // 2 of 3 epochs, the second ended at 120
  task.state = TaskState::running;
  auto view = view_of({task});
  view.jobs[0].submitted_at = Seconds{90};
  const auto jobs = at_work("r", view, Seconds{125}, {{0, Seconds{60}}});
  ASSERT_EQ(jobs.size(), 1U);
  const auto& job = jobs[0].running;
  EXPECT_DOUBLE_EQ(job.seconds.value, 30);
  EXPECT_NEAR(job.left, 1 - 2.5 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(job.deadline->value, 60 - 35);
  EXPECT_EQ(job.setting.epochs, 3);
  EXPECT_EQ(jobs[0].program, "lenet5/digits");
}

TEST(RunningJobs, OfAServerEachHasItsOwnProgramAndItsOwnPromise) {
  auto view = view_of({task_with(0, 100, {2}), task_with(1, 100, {2}), task_with(2, 100, {2})});
  for (JobId id = 1; id < 3; ++id) {
    JobView job;
    job.id = id;
    auto spec = lenet();
    spec.program.dataset = id == 1 ? "mnist" : "cifar10";
    job.spec = spec;
    view.jobs.push_back(job);
  }
  for (TaskId id = 0; id < 3; ++id) {
    view.tasks[static_cast<std::size_t>(id)].job = id;
    view.tasks[static_cast<std::size_t>(id)].state = TaskState::running;
  }
  const auto jobs = at_work("r", view, Seconds{100}, {{1, Seconds{500}}});
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].program, "lenet5/digits");
  EXPECT_EQ(jobs[1].program, "lenet5/mnist");
  EXPECT_EQ(jobs[2].program, "lenet5/cifar10");
  EXPECT_FALSE(jobs[0].running.deadline);
  EXPECT_DOUBLE_EQ(jobs[1].running.deadline->value, 400);
  EXPECT_FALSE(jobs[2].running.deadline);
}

TEST(RunningJobs, OneThatIsLateStillHasSomethingLeft) {
  auto task = task_with(0, 100, {2, 2, 2});
  task.state = TaskState::running;
  const auto jobs = at_work("r", view_of({task}), Seconds{5000}, {});
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_GT(jobs[0].running.left, 0);
  EXPECT_FALSE(jobs[0].running.deadline);
}

TEST(RunningJobs, ThreadsOfOthersKeepCoresBusyUnlessTheyAreFew) {
  EXPECT_EQ(busy_with(0.1), 0) << "a shell is no job";
  EXPECT_EQ(busy_with(-1), 0);
  EXPECT_DOUBLE_EQ(busy_with(3), 3);
  const auto said = busy_text(2, {2.5, 1.5}, 2);
  for (const char* part : {"2.0 cores", "2.50 cores in use", "1.50 more in line", "2 of them Tandem's"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(RunningJobs, WhatIsWrittenIsAutoNoneOrANumber) {
  EXPECT_EQ(parse_running("auto").kind, RunningOption::Kind::automatic);
  EXPECT_EQ(parse_running("none").kind, RunningOption::Kind::none);
  EXPECT_EQ(parse_running("3").number, 3);
  for (const char* wrong : {"", "-1", "many", "2.5", "99999"})
    EXPECT_THROW(parse_running(wrong), UserError) << wrong;
}

}  // namespace
}  // namespace tandem::app
