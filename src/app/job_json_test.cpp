#include "app/job_json.h"

#include <gtest/gtest.h>

namespace tandem::app {
namespace {

TEST(Describe, ANodesLoadIsTheLastObservedAndNullWhereNobodyCanTell) {
  View view;
  view.apply(Event{Seconds{100}, NodeJoined{0, "here", {2, kGiB, 1.0}}});
  EXPECT_TRUE(node_json(view, view.nodes[0])["load"].is_null());
  EXPECT_TRUE(node_json(view, view.nodes[0])["bandwidth"].is_null());
  view.apply(Event{Seconds{110}, NodeObserved{0, {.cpu = 0.75, .memory = 0.5}}});
  view.apply(Event{Seconds{120}, NodeObserved{0, {.cpu = 0.25, .latency = Seconds{0.001}}}});
  const auto load = node_json(view, view.nodes[0])["load"];
  EXPECT_EQ(load["since"], 120.0);
  EXPECT_EQ(load["cpu"], 0.25);
  EXPECT_TRUE(load["memory"].is_null()) << "what was known before is not known now";
  EXPECT_EQ(load["latency"], 0.001);
}

TEST(Describe, ASearchAsksForWhatItsTrialsAskForAndHasWhatTheyHold) {
  View view;
  view.nodes.resize(1);
  view.jobs.resize(1);
  auto& job = view.jobs[0];
  job.spec = spec::TuneJob{};
  job.state = JobState::running;
  for (TaskId id = 0; id < 3; ++id) {
    TaskView task;
    task.id = id;
    task.trial = TrialPart{};
    task.state = id < 2 ? TaskState::running : TaskState::waiting;
    task.alive = id < 2;
    task.attempt = id < 2 ? 1 : 0;
    task.cores_held = id < 2 ? 2 : 0;
    task.wanted = {2, 0, 1.0};
    task.options = {{{1, 0, 1.0}, 10}, {{4, 0, 1.0}, 2}};
    view.tasks.push_back(task);
    job.tasks.push_back(id);
  }
  const auto row = job_json(view, job);
  EXPECT_EQ(row["cores_held"], 4);
  EXPECT_EQ(row["cores_asked"], (nlohmann::json{1, 4}));
  EXPECT_EQ(row["resources"]["cores"], 4) << "the thriftiest of its configurations, as explain says";
  EXPECT_EQ(anonymous_row(row)["cores_held"], 4);
  for (auto& task : view.tasks) task.options.clear();
  EXPECT_EQ(job_json(view, job)["resources"]["cores"], 2);
  EXPECT_FALSE(job_json(view, job).contains("cores_asked"));
}

}  // namespace
}  // namespace tandem::app
