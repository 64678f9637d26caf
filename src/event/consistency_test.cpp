#include "event/consistency.h"

#include <gtest/gtest.h>

#include <limits>

namespace tandem {
namespace {

class Consistency : public testing::Test {
 protected:
  Consistency() {
    apply(NodeJoined{0, "here", {2, kGiB, 1.0}});
    apply(JobSubmitted{0, {}}, {{1, Request{0, 0, {}}}});
  }
  void apply(const EventBody& body, const std::vector<Decision>& decisions = {}) {
    apply_checked(view_, {Seconds{1}, body}, decisions);
  }
  void refuses(const EventBody& body, const std::vector<Decision>& decisions = {}) {
    EXPECT_THROW(apply_checked(view_, {Seconds{1}, body}, decisions), Contradiction) << name(body);
  }
  View view_;
};

TEST_F(Consistency, WhatIsNotThereIsNotSpokenOf) {
  refuses(JobSubmitted{0, {}});
  refuses(JobSubmitted{2, {}});
  refuses(JobCancelled{1, ""});
  refuses(JobResumed{-1});
  refuses(NodeJoined{2, "far", {}});
  refuses(NodeObserved{1, {}});
  refuses(TaskEnded{1, 1, {}});
  refuses(CheckpointTaken{7, 1, 1, 1});
  refuses(JobsArchived{{1}});
  refuses(Woke{}, {{2, Start{0, 1, 1, {}}}});
  refuses(Woke{}, {{2, Start{1, 1, 0, {}}}});
  refuses(Woke{}, {{2, Request{2, 0, {}}}});
  refuses(Woke{}, {{2, FinishJob{1, JobState::finished, ""}}});
  apply(Woke{}, {{2, Request{1, 0, {}}}, {3, Start{1, 1, 0, {}}}});
}

TEST_F(Consistency, WhatHappensOutOfTurnIsRefused) {
  refuses(EpochEnded{.task = 0, .epoch = 1});
  refuses(JobsArchived{{0}});
  refuses(Woke{}, {{1, Hold{0, 1}}});
  apply(Woke{}, {{2, Start{0, 1, 0, {}}}});
  refuses(EpochEnded{.task = 0, .epoch = 0});
  apply(EpochEnded{.task = 0, .epoch = 1});
}

TEST_F(Consistency, NumbersThatAreNoneAreRefused) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(apply_checked(view_, {Seconds{kNothing}, Woke{}}, {}), Contradiction);
  refuses(Woke{}, {{2, Wake{Seconds{kNothing}}}});
  refuses(Woke{}, {{2, Start{0, 1, 0, {-1}}}});
  refuses(NodeJoined{1, "far", {std::numeric_limits<int>::max()}});
}

}  // namespace
}  // namespace tandem
