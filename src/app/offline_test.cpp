#include "app/offline.h"

#include <gtest/gtest.h>

#include "app/run_testing.h"
#include "app/runs.h"
#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

// A server that is gone: job 0 has a program on the only node, job 1 waits behind it, job 2 asks for a node that is not there.
class OfflineTest : public testing::Test {
 protected:
  OfflineTest() {
    happens(NodeJoined{0, "here", {2, 8 * kGiB, 1.0}, "a machine, 2 cores", {}});
    for (JobId id = 0; id < 3; ++id) {
      auto job = sample::training(3, 2);
      job.name = "mlp-" + std::to_string(id);
      happens(JobSubmitted{id, job});
    }
    const auto& task = decider_.view().tasks[0];
    happens(TaskStarted{0, task.attempt, start_, 100, 1, {0}});
    store_.journal(run_.id)->append(entries_);
  }
  void happens(EventBody body) {
    entries_.push_back(decider_.step({Seconds{1000}, std::move(body)}));
    for (const auto& decision : entries_.back().decisions)
      if (std::holds_alternative<Start>(decision.body)) start_ = decision.id;
  }
  std::size_t journalled() {
    std::size_t entries = 0;
    store_.journal(run_.id)->replay([&](control::Entry&&) { ++entries; });
    return entries;
  }
  std::string refusal(const std::vector<std::string>& jobs, const std::string& server = "main") {
    try {
      cancel_offline(store_, server, jobs);
    } catch (const UserError& e) {
      return e.what();
    }
    return "not refused";
  }

  platform::TemporaryFolder folder_{"tandem-offline"};
  store::Store store_{folder_.path() / "store"};
  store::RunInfo run_ =
      store_.create_run("serve", "main", R"({"kind":"serve","policy":"fifo","seed":1})", Seconds{1});
  control::Decider decider_{policies_of(run_)};
  std::vector<control::Entry> entries_;
  DecisionId start_ = 0;
};

TEST_F(OfflineTest, WhatWaitsIsOverAndWhatRanEndsWhenTheServerStarts) {
  const auto jobs = cancel_offline(store_, "main", {"0", "mlp-1"});
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].id, 0);
  EXPECT_EQ(jobs[0].state, JobState::running) << "its program may live still";
  EXPECT_TRUE(jobs[0].cancelled);
  EXPECT_EQ(jobs[1].state, JobState::stopped);
  const View view = replayed(store_, run_);
  EXPECT_TRUE(view.jobs[0].cancelled);
  EXPECT_EQ(view.jobs[1].state, JobState::stopped);
  EXPECT_EQ(view.jobs[1].reason, "cancelled");
  EXPECT_FALSE(view.jobs[2].cancelled) << "nobody spoke of it";
  EXPECT_FALSE(control::first_difference(policies_of(run_), *store_.journal(run_.id)))
      << "the server would have decided the same";
}

TEST_F(OfflineTest, AllOrNothingIsCancelled) {
  const auto before = journalled();
  EXPECT_NE(refusal({"1", "99"}).find("no job 99"), std::string::npos);
  EXPECT_NE(refusal({"1", "mlp"}).find("no job mlp"), std::string::npos);
  EXPECT_EQ(journalled(), before);
  EXPECT_FALSE(replayed(store_, run_).jobs[1].cancelled);
}

TEST_F(OfflineTest, AJobThatIsOverIsNotCancelledAgain) {
  cancel_offline(store_, "main", {"1"});
  const auto before = journalled();
  EXPECT_NE(refusal({"1"}).find("job 1 is over: it has stopped"), std::string::npos) << refusal({"1"});
  EXPECT_EQ(journalled(), before);
}

TEST_F(OfflineTest, TwiceInOneBreathIsOnce) {
  EXPECT_EQ(cancel_offline(store_, "main", {"1", "mlp-1"}).size(), 2U);
  EXPECT_EQ(replayed(store_, run_).jobs[1].state, JobState::stopped);
  EXPECT_FALSE(control::first_difference(policies_of(run_), *store_.journal(run_.id)));
}

TEST_F(OfflineTest, ARunningServerIsAskedAndItsJournalLeftAlone) {
  const auto before = journalled();
  const auto servers = store::RunLock::take(store_.run_folder(run_.id));
  EXPECT_NE(refusal({"1"}).find("cancel without --offline"), std::string::npos) << refusal({"1"});
  EXPECT_EQ(journalled(), before);
}

TEST_F(OfflineTest, AServerThatIsNotThereIsNamed) {
  EXPECT_NE(refusal({"1"}, "other").find("no server called 'other'"), std::string::npos);
}

TEST_F(OfflineTest, TheJournalNeverGoesBackInTime) {
  const Seconds later{4e9};  // the clock was wrong, and was set right since
  const auto entry = decider_.step({later, Woke{}});
  store_.journal(run_.id)->append(std::vector{entry});
  cancel_offline(store_, "main", {"1"});
  EXPECT_DOUBLE_EQ(replayed(store_, run_).now.value, later.value);
}

}  // namespace
}  // namespace tandem::app
