#include "server/job_rows.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/job_json.h"

namespace tandem::server {
namespace {

class JobRowsTest : public testing::Test {
 protected:
  JobRowsTest() {
    event(NodeJoined{0, "here", {4, 1 << 30}, "box", {}});
    event(JobSubmitted{0, spec::TrainJob{}});
    decide(tandem::Request{0, 0, {1, 0}});
    start(1);
  }
  void event(EventBody body) { view_.apply(Event{Seconds{now_ += 1}, std::move(body)}); }
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }
  void start(Attempt attempt) {
    decide(Start{0, attempt, 0, {1, 0}});
    event(TaskStarted{0, attempt, view_.next_decision - 1, 1, 1, {0}});
  }
  void end(Attempt attempt) { event(TaskEnded{0, attempt, Energy{Joules{5}, "model"}}); }
  // As a new one would say it.
  void expect_right() {
    const auto& job = view_.jobs.front();
    EXPECT_EQ(nlohmann::json::parse(rows_.row(view_, job)), app::job_json(view_, job));
  }

  double now_ = 100;
  View view_;
  JobRows rows_;
};

TEST_F(JobRowsTest, OneThatRunsIsMadeEachTime) {
  expect_right();
  event(EpochEnded{0, 1, 1, {{"accuracy", 0.5}}, Seconds{1}, Energy{Joules{7}, "model"}, {}});
  expect_right();
  EXPECT_EQ(rows_.kept(), 0u);
}

TEST_F(JobRowsTest, OneThatHasEndedIsKeptOnceNothingOfItRuns) {
  decide(FinishJob{0, JobState::stopped, "enough"});
  expect_right();
  EXPECT_EQ(rows_.kept(), 0u);  // its last energy is still to come
  end(1);
  expect_right();
  EXPECT_EQ(rows_.kept(), 1u);
  expect_right();
}

TEST_F(JobRowsTest, OneThatWasResumedAndEndedAgainIsAsItIsNow) {
  end(1);
  decide(FinishJob{0, JobState::stopped, "enough"});
  expect_right();
  event(JobResumed{0});
  expect_right();
  decide(tandem::Request{0, 0, {1, 0}});
  start(2);
  end(2);
  decide(FinishJob{0, JobState::finished, "done"});
  expect_right();
}

}  // namespace
}  // namespace tandem::server
