#include "app/running_jobs.h"

#include <gtest/gtest.h>

#include "app/run_testing.h"
#include "app/runs.h"
#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

using sample::Played;
using sample::training;

TEST(RunningJobs, WhatIsWritten) {
  EXPECT_EQ(parse_running("auto").kind, RunningOption::Kind::automatic);
  EXPECT_EQ(parse_running("none").kind, RunningOption::Kind::none);
  EXPECT_EQ(parse_running("3").number, 3);
  for (const char* wrong : {"", "-1", "two", "3x", "10001", "99999999999999999999"})
    EXPECT_THROW(parse_running(wrong), UserError) << wrong;
}

TEST(RunningJobs, ATaskAtWorkIsAsFarAsItsEpochsAndTheTimeSinceSay) {
  const Played run(training(4), {}, 2);  // 10 s each, from 1000 s on
  const auto now = at_work("r", run.view(), Seconds{1025}, {{0, Seconds{100}}});
  ASSERT_EQ(now.size(), 1U);
  EXPECT_EQ(now[0].program, "train");
  EXPECT_EQ(now[0].running.id, "r");
  EXPECT_DOUBLE_EQ(now[0].running.seconds.value, 40);
  EXPECT_DOUBLE_EQ(now[0].running.left, 1 - 2.5 / 4);
  EXPECT_DOUBLE_EQ(now[0].running.deadline->value, 75) << "of what it was promised 25 s have passed";
  EXPECT_NEAR(at_work("r", run.view(), Seconds{5000}, {})[0].running.left, 1 - 2.99 / 4, 1e-9)
      << "an epoch that takes long is not over before it is reported";
}

TEST(RunningJobs, InItsFirstEpochNobodyKnowsItsTime) {
  auto job = training(4);
  job.place.deadline = Seconds{500};
  const Played run(job, {}, 0);
  const auto now = at_work("r", run.view(), Seconds{1010}, {{0, Seconds{100}}});
  ASSERT_EQ(now.size(), 1U);
  EXPECT_DOUBLE_EQ(now[0].running.seconds.value, 0);
  EXPECT_DOUBLE_EQ(now[0].running.left, 1);
  EXPECT_DOUBLE_EQ(now[0].running.deadline->value, 490) << "its own deadline counts before what was promised";
}

TEST(RunningJobs, WhatIsOverIsNotAtWork) {
  EXPECT_TRUE(at_work("r", Played(training(2)).view(), Seconds{2000}, {}).empty());
}

TEST(RunningJobs, TheLittleThatDaemonsDoIsNothing) {
  EXPECT_EQ(busy_with(0.2), 0);
  EXPECT_EQ(busy_with(1.5), 1.5);
  EXPECT_EQ(busy_text(1.5, {1.0, 0.5}, 0).find("Tandem's"), std::string::npos);
  EXPECT_NE(busy_text(1.5, {1.0, 0.5}, 2).find("2 of them Tandem's"), std::string::npos);
}

TEST(RunningJobs, TheLoadIsWhatTheStoreAndItsLocksSay) {
  platform::TemporaryFolder folder("tandem-running");
  store::Store store(folder.path() / "store");
  const NodeView machine = this_machine();
  EXPECT_EQ(running_now(store, parse_running("none"), machine).count(), 0);
  EXPECT_EQ(running_now(store, parse_running("2"), machine).count(), 2);
  const auto job = training(4);
  const auto run = sample::keep(store, job, Played(job, {}, 0));
  EXPECT_TRUE(running_now(store, {}, machine).jobs.empty()) << "nobody works on it: it was interrupted";
  const auto lock = store::RunLock::take(store.run_folder(run.id));
  ASSERT_TRUE(lock);
  const auto now = running_now(store, {}, machine);
  ASSERT_EQ(now.jobs.size(), 1U);
  EXPECT_GT(now.jobs[0].seconds.value, 1e8);
  ASSERT_FALSE(now.notes.empty());
  EXPECT_NE(now.notes[0].find("nobody knows how long"), std::string::npos) << now.notes[0];
}

}  // namespace
}  // namespace tandem::app
