#include "app/job_view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/results.h"
#include "base/error.h"

namespace tandem::app {
namespace {

const store::RunInfo kServer{"r1", "serve", "main", "{}", "running", "", Seconds{1}, Seconds{2}};

TaskView task_of(TaskId id, JobId job, double accuracy) {
  TaskView task;
  task.id = id;
  task.job = job;
  task.attempt = 1;
  EpochRecord record;
  record.epoch = 1;
  record.metrics = {{"accuracy", accuracy}};
  task.epochs.push_back(record);
  return task;
}

// Job 0 has task 0, job 1 tasks 1 and 3, job 2 task 2.
View three_jobs() {
  View view;
  view.jobs.resize(3);
  const char* const names[] = {"a", "b", "b"};
  for (JobId id = 0; id < 3; ++id) {
    auto& job = view.jobs[static_cast<std::size_t>(id)];
    job.id = id;
    spec::base_of(job.spec).name = names[id];
    job.state = JobState::finished;
  }
  for (const auto& [task, job] : {std::pair{0, 0}, {1, 1}, {2, 2}, {3, 1}}) {
    view.tasks.push_back(task_of(task, job, 0.1 * (task + 1)));
    view.jobs[static_cast<std::size_t>(job)].tasks.push_back(task);
  }
  TrialPart from_task_1;
  from_task_1.clone_from = 1;
  view.tasks[3].trial = from_task_1;
  return view;
}

TEST(JobView, AJobHasItsOwnTasksFromZeroOnAndTheirOwnFolders) {
  const auto job = job_of_server(kServer, three_jobs(), 1, "/runs/r1");
  ASSERT_EQ(job.view.tasks.size(), 2U);
  EXPECT_EQ(job.view.jobs.front().tasks, (std::vector<TaskId>{0, 1}));
  EXPECT_EQ(job.view.tasks[1].epochs[0].metrics.at("accuracy"), 0.4);
  EXPECT_EQ(job.view.tasks[1].trial->clone_from, 0) << "it began from the job's other task";
  EXPECT_EQ(job.folders.of(1), "/runs/r1/task-3");
  EXPECT_EQ(job.run.id, "r1/1");
  EXPECT_EQ(job.run.name, "b");
  EXPECT_EQ(job.run.state, "finished");
}

TEST(JobView, ResultsAreThoseOfTheJobAndNotOfTheFirst) {
  const auto job = job_of_server(kServer, three_jobs(), 2, "/runs/r1");
  EXPECT_EQ(result_json(job.run, job.view, job.folders)["metrics"]["accuracy"], 0.1 * 3);
}

TEST(JobView, AJobIsFoundByNumberOrByTheNewestOfItsName) {
  const View view = three_jobs();
  EXPECT_EQ(find_job(view, "0"), 0);
  EXPECT_EQ(find_job(view, "b"), 2);
  EXPECT_THROW(find_job(view, "3"), UserError);
  EXPECT_THROW(find_job(view, "99999999999999999999"), UserError);
  EXPECT_THROW(find_job(view, "c"), UserError);
  EXPECT_THROW(job_of_server(kServer, view, 3, "/runs/r1"), UserError);
}

}  // namespace
}  // namespace tandem::app
