#include "app/runs.h"

#include <gtest/gtest.h>

#include "app/run_testing.h"
#include "app/sim_replay.h"
#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

using sample::Played;
using sample::training;

class RunsTest : public testing::Test {
 protected:
  platform::TemporaryFolder folder_{"tandem-runs"};
  store::Store store_{folder_.path() / "store"};
};

TEST_F(RunsTest, AJournalIsReplayedToTheViewThatWroteIt) {
  const auto job = training(3);
  const Played played(job);
  const auto run = sample::keep(store_, job, played);
  EXPECT_EQ(run.state, "finished");
  const View view = replayed(store_, run);
  EXPECT_EQ(view.jobs.front().spec, spec::Job(job));
  EXPECT_EQ(view.tasks.front().reported(), 3);
  EXPECT_EQ(view.jobs.front().active, played.view().jobs.front().active);
  EXPECT_EQ(job_of(run), spec::Job(job));
  EXPECT_EQ(policies_of(run).size(), 2U) << "its controller and its allocator";
}

TEST_F(RunsTest, ADamagedSpecIsSaidToBeDamaged) {
  for (const char* kind : {"train", "serve"}) {
    const auto run = store_.create_run(kind, "x", "{not json", Seconds{1});
    EXPECT_THROW(policies_of(run), SystemError);
  }
}

TEST_F(RunsTest, AServerIsNoJob) {
  const auto server = store_.create_run("serve", "main", R"({"kind":"serve","policy":"fifo","seed":1})", Seconds{1});
  EXPECT_TRUE(is_server(server));
  EXPECT_GT(policies_of(server).size(), 2U) << "the controllers of all kinds, and the scheduler";
  EXPECT_THROW(find_own_run(store_, server.id), UserError);
  EXPECT_EQ(with_real_state(store_, server).state, "stopped");
  const auto lock = store::RunLock::take(store_.run_folder(server.id));
  EXPECT_EQ(with_real_state(store_, server).state, "running");
}

TEST_F(RunsTest, ARunThatNobodyWorksOnWasInterrupted) {
  const auto job = training(3);
  const auto run = sample::keep(store_, job, Played(job, {}, 1));
  EXPECT_EQ(run.state, "running");
  EXPECT_EQ(find_own_run(store_, run.id).id, run.id);
  EXPECT_EQ(with_real_state(store_, run).state, "interrupted");
  EXPECT_FALSE(with_real_state(store_, run).reason.empty());
  const auto lock = store::RunLock::take(store_.run_folder(run.id));
  EXPECT_EQ(with_real_state(store_, run).state, "running");
}

TEST_F(RunsTest, ThisMachineHasCoresAndMemory) {
  const auto machine = this_machine();
  EXPECT_GE(machine.capacity.cores, 1);
  EXPECT_GT(machine.capacity.memory, 0);
  EXPECT_GE(sensor_options({}).around.cores, 1);
}

// ---- runs in the simulator ----

TEST_F(RunsTest, ARunPlayedAgainTakesAsLong) {
  const auto job = training(6);
  const Played played(job);
  const auto again = replay_of(played.view());
  EXPECT_TRUE(again.finished);
  EXPECT_TRUE(again.played_out);
  EXPECT_EQ(again.epochs_measured, 6);
  EXPECT_EQ(again.epochs_played, 6);
  ASSERT_TRUE(again.median);
  EXPECT_NEAR(*again.median, 0, 1e-9) << "all its epochs take the same";
  EXPECT_NEAR(again.error(), 0, 1e-6);
  const auto told = replay_json(sample::keep(store_, job, played), played.view(), again);
  EXPECT_EQ(told["epochs"].size(), 6U);
  EXPECT_EQ(told["trials"].size(), 1U);
  EXPECT_EQ(told["replay"]["finished"], true);
  EXPECT_EQ(told["kind"], "train");
}

TEST_F(RunsTest, WhatWasNotMeasuredIsNotPredicted) {
  EXPECT_THROW(replay_of(View{}), UserError);
  const Played one(training(1));
  const auto again = replay_of(one.view());
  EXPECT_FALSE(again.median) << "there is no other epoch to tell it from";
  EXPECT_TRUE(replay_json({}, one.view(), again)["median_error"].is_null());
}

}  // namespace
}  // namespace tandem::app
