#include "tune/train.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tandem::tune {
namespace {

// Plays the loop: applies an event, lets the controller decide, applies what it decided.
class TrainTest : public testing::Test {
 protected:
  TrainTest() {
    job_.epochs = 2;
    job_.limits.retries = 1;
    happens(NodeJoined{0, "here", {2, 4 * kGiB, 1.0}});
  }
  std::vector<DecisionBody> happens(EventBody body, double later = 1) {
    clock_ += later;
    const Event event{Seconds{clock_}, std::move(body)};
    view_.apply(event);
    auto decided = controller_.step(view_, event);
    for (const auto& d : decided) decide(d);
    return decided;
  }
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }
  // Of the open ones the first that is due.
  DecisionId next_wake() const {
    const auto due = std::find_if(view_.open.begin(), view_.open.end(), [&](const auto& open) {
      const auto* wake = std::get_if<Wake>(&open.second.body);
      return wake && wake->at.value == *view_.open_wakes.begin();
    });
    return due->first;
  }
  void submit() { happens(JobSubmitted{0, job_}); }
  void start(Attempt attempt) {
    decide(Start{0, attempt, 0, job_.system});
    happens(TaskStarted{0, attempt, view_.next_decision - 1, 1, 1, {0}});
  }
  std::vector<DecisionBody> fails(Attempt attempt, Failure failure) {
    return happens(TaskFailed{0, attempt, failure, "why", "", {}});
  }
  std::vector<DecisionBody> epoch(Attempt attempt, std::int64_t number) {
    return happens(EpochEnded{0, attempt, number, {{"accuracy", 0.5}}, Seconds{1}, {}, {}});
  }

  spec::TrainJob job_;
  View view_;
  TrainController controller_;
  double clock_ = 0;
};

const FinishJob* finish(const std::vector<DecisionBody>& decided) {
  return decided.size() == 1 ? std::get_if<FinishJob>(&decided[0]) : nullptr;
}
bool asks_again(const std::vector<DecisionBody>& decided) {
  return decided.size() == 1 && std::holds_alternative<Request>(decided[0]);
}

TEST_F(TrainTest, AJobAsksForOneTaskRunsItsEpochsAndFinishes) {
  EXPECT_TRUE(asks_again(happens(JobSubmitted{0, job_})));
  start(1);
  EXPECT_EQ(epoch(1, 1), (std::vector<DecisionBody>{Continue{0, 1, 1}}));
  EXPECT_EQ(epoch(1, 2), (std::vector<DecisionBody>{Continue{0, 1, 2}}));
  const auto decided = happens(TaskEnded{0, 1, {}});
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::finished);
}

TEST_F(TrainTest, AGangAsksForItsNodesAndFailsWhereThereAreNotSoManyOfOneType) {
  job_.nodes = 2;
  happens(NodeJoined{1, "larger", {4, 4 * kGiB, 1.0}});
  const auto decided = happens(JobSubmitted{0, job_});
  ASSERT_TRUE(finish(decided));
  EXPECT_NE(finish(decided)->reason.find("2 nodes of one type"), std::string::npos);
  happens(NodeJoined{2, "alike", {2, 4 * kGiB, 1.0}});
  const auto asked = happens(JobSubmitted{1, job_});
  ASSERT_TRUE(asks_again(asked));
  EXPECT_EQ(std::get<Request>(asked[0]).nodes, 2);
}

TEST_F(TrainTest, AJobThatFitsNoNodeFailsAtOnce) {
  job_.system.cores = 64;
  const auto decided = happens(JobSubmitted{0, job_});
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::failed);
  EXPECT_NE(finish(decided)->reason.find("64 cores"), std::string::npos);
}

TEST_F(TrainTest, KilledAndStalledAttemptsAreRetriedAsOftenAsAllowed) {
  submit();
  start(1);
  EXPECT_TRUE(asks_again(fails(1, Failure::killed)));
  start(2);
  const auto decided = fails(2, Failure::stalled);
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::failed);
  EXPECT_EQ(finish(decided)->reason, "stalled: why");
}

TEST_F(TrainTest, LostAttemptsAreAlwaysRetried) {
  submit();
  for (Attempt attempt = 1; attempt < 20; ++attempt) {
    start(attempt);
    EXPECT_TRUE(asks_again(fails(attempt, Failure::lost)));
  }
}

TEST_F(TrainTest, AJobThatIsLostAtOnceAgainAndAgainIsHeld) {
  for (const int most : {1, 3, 0}) {
    view_ = View();
    happens(NodeJoined{0, "here", {2, 4 * kGiB, 1.0}});
    job_.limits.lost = most;
    submit();
    const auto lost = [&](Attempt attempt) {
      start(attempt);
      return happens(TaskFailed{0, attempt, Failure::lost, "Tandem ended", "", {}, Seconds{1}});
    };
    for (Attempt attempt = 1; attempt < (most == 0 ? 20 : most); ++attempt)
      EXPECT_TRUE(asks_again(lost(attempt)));
    if (most == 0) continue;
    const auto decided = lost(most);
    ASSERT_TRUE(finish(decided)) << most;
    EXPECT_EQ(finish(decided)->state, JobState::failed);
    EXPECT_NE(finish(decided)->reason.find("held: Tandem ended"), std::string::npos);
    EXPECT_TRUE(asks_again(happens(JobResumed{0}))) << "a person wants it";
  }
}

TEST_F(TrainTest, ACrashIsRetriedOnlyAfterProgress) {
  submit();
  start(1);
  epoch(1, 1);
  EXPECT_TRUE(asks_again(fails(1, Failure::crashed)));
  start(2);
  EXPECT_TRUE(finish(fails(2, Failure::crashed)));
}

TEST_F(TrainTest, WhatWouldHappenAgainIsNotRetried) {
  for (auto failure : {Failure::crashed, Failure::bad_report, Failure::silent, Failure::out_of_memory,
                       Failure::could_not_start}) {
    view_ = View();
    happens(NodeJoined{0, "here", {2, 4 * kGiB, 1.0}});
    submit();
    start(1);
    EXPECT_TRUE(finish(fails(1, failure))) << name(failure);
  }
}

TEST_F(TrainTest, ARefusedStartFailsTheJobWithTheReason) {
  submit();
  decide(Start{0, 1, 0, job_.system});
  const auto decided = happens(DecisionRefused{view_.next_decision - 1, "no speed control"});
  ASSERT_TRUE(finish(decided));
  EXPECT_NE(finish(decided)->reason.find("no speed control"), std::string::npos);
}

TEST_F(TrainTest, CancellingARunningJobWaitsForItsTask) {
  submit();
  start(1);
  epoch(1, 1);
  EXPECT_TRUE(happens(JobCancelled{0, "asked"}).empty());
  EXPECT_TRUE(epoch(1, 2).empty()) << "no Continue after a cancel";
  const auto decided = happens(TaskEnded{0, 1, {}});
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::finished) << "all epochs were there";
}

TEST_F(TrainTest, CancellingAWaitingJobEndsItAndResumingAsksAgain) {
  submit();
  const auto decided = happens(JobCancelled{0, "asked"});
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::stopped);
  EXPECT_TRUE(asks_again(happens(JobResumed{0})));
}

TEST_F(TrainTest, AProgramMayEndEarlyByItself) {
  submit();
  start(1);
  epoch(1, 1);
  const auto decided = happens(TaskEnded{0, 1, {}});
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::finished);
  EXPECT_NE(finish(decided)->reason.find("1 of 2"), std::string::npos);
}

TEST_F(TrainTest, TheTimeLimitStopsTheJobButNotBefore) {
  job_.limits.time = Seconds{100};
  const auto decided = happens(JobSubmitted{0, job_});
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<Wake>(decided[1]).at.value, clock_ + 100);
  start(1);
  EXPECT_TRUE(std::holds_alternative<Wake>(happens(Woke{next_wake()}, 10).at(0))) << "too early: ask to be woken again";
  const auto late = happens(Woke{next_wake()}, 100);
  ASSERT_TRUE(finish(late));
  EXPECT_EQ(finish(late)->state, JobState::stopped);
}

TEST_F(TrainTest, WaitingJobsWithTimeLimitsAreNotWokenForEachOther) {
  job_.limits.time = Seconds{2};
  for (JobId job = 0; job < 20; ++job) happens(JobSubmitted{job, job_}, 0.01);
  for (int times = 0; times < 200; ++times) {
    const double next = *view_.open_wakes.begin();
    happens(Woke{next_wake()}, std::max(0.0, next - clock_));
    ASSERT_FALSE(view_.open_wakes.empty()) << "one of them may have begun";
  }
  EXPECT_LE(view_.open_wakes.size(), 20u);
}

}  // namespace
}  // namespace tandem::tune
