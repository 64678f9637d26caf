// The life of a submission, told by Slurm, the agent and the record in every order that was seen or is
// feared.
#include "runtime/slurm/life.h"

#include <gtest/gtest.h>

namespace tandem::slurm {
namespace {

constexpr LifeOptions kOptions{Seconds{5}, Seconds{45}, Seconds{120}, Seconds{300}};

// A life with a clock of its own: each thing heard comes one second after the last.
struct Told {
  Life life{kOptions};
  double now = 100;

  Told& accepted() {
    life.accepted(7, {++now});
    return *this;
  }
  Told& queue(const char* state, const char* reason = "None", std::optional<Seconds> left = {}) {
    ++now;
    const QueuedJob job{7, *job_phase(state), state, reason, "n0", left, ""};
    life.queue_says(&job, {now}, {now});
    return *this;
  }
  Told& unlisted() {
    ++now;
    life.queue_says(nullptr, {now}, {now});
    return *this;
  }
  Told& joined() {
    life.joined({++now});
    return *this;
  }
  Told& left() {
    life.left({++now});
    return *this;
  }
  Told& recorded(int status = 0) {
    ExitRecord record;
    record.status = status;
    life.recorded(record);
    return *this;
  }
  Told& pass(double seconds) {
    now += seconds;
    life.tick({now});
    return *this;
  }
  End end() const {
    EXPECT_TRUE(life.ended()) << "it is " << name(life.stage());
    return life.ended() ? life.ended()->end : End::lost;
  }
  std::string detail() const { return life.ended() ? life.ended()->detail : ""; }
};

TEST(Life, TheUsualOne) {
  Told told;
  EXPECT_EQ(told.life.stage(), Stage::submitting);
  EXPECT_EQ(told.accepted().life.stage(), Stage::queued);
  EXPECT_EQ(told.queue("PENDING", "Priority").life.waits_for(), "Priority");
  EXPECT_EQ(told.queue("RUNNING").life.stage(), Stage::allocated);
  EXPECT_EQ(told.joined().life.stage(), Stage::running);
  EXPECT_EQ(told.queue("RUNNING").life.stage(), Stage::running);
  EXPECT_EQ(told.recorded().end(), End::exited);
  EXPECT_TRUE(told.life.ended()->ran);
  EXPECT_FALSE(told.left().queue("COMPLETED").life.wants_cancel());
  EXPECT_EQ(told.end(), End::exited) << "once over, nothing changes";
}

TEST(Life, TheAgentMayBeFasterThanSbatch) {
  Told told;
  told.joined();
  EXPECT_EQ(told.accepted().life.stage(), Stage::running);
  EXPECT_EQ(told.life.job(), 7);
}

TEST(Life, ARefusedSubmissionRanNothing) {
  Told told;
  told.life.refused("Invalid node name specified");
  EXPECT_EQ(told.end(), End::refused);
  EXPECT_FALSE(told.life.ended()->ran);
}

TEST(Life, AnUnansweredSubmissionIsFoundByItsComment) {
  Told told;
  told.life.unanswered("sbatch did not end within 60 s", {++told.now});
  EXPECT_EQ(told.queue("PENDING", "Resources").life.stage(), Stage::queued);
  EXPECT_EQ(told.life.job(), 7);
}

TEST(Life, AnUnansweredSubmissionThatIsNotThereWasRefused) {
  Told told;
  told.life.unanswered("Unable to contact slurm controller", {++told.now});
  EXPECT_FALSE(told.unlisted().life.ended()) << "it may still turn up";
  EXPECT_EQ(told.pass(6).end(), End::refused);
  EXPECT_EQ(told.detail(), "Unable to contact slurm controller");
}

TEST(Life, AListMadeBeforeTheJobWasKnownSaysNothing) {
  Told told;
  told.unlisted().accepted();
  told.life.queue_says(nullptr, {told.now - 1}, {told.now});
  EXPECT_FALSE(told.pass(1000).life.ended());
  EXPECT_EQ(told.life.stage(), Stage::queued);
}

TEST(Life, AJobThatCanNeverRunIsRefusedAndTakenOut) {
  Told told;
  told.accepted().queue("PENDING", "PartitionConfig");
  EXPECT_EQ(told.end(), End::refused);
  EXPECT_NE(told.detail().find("more than any node"), std::string::npos);
  EXPECT_TRUE(told.life.wants_cancel());
  EXPECT_TRUE(told.queue("PENDING", "PartitionConfig").life.wants_cancel()) << "until it is gone";
  EXPECT_FALSE(told.queue("CANCELLED").life.wants_cancel());
}

TEST(Life, AHeldJobWaits) {
  Told told;
  EXPECT_FALSE(told.accepted().queue("PENDING", "JobHeldUser").pass(1e6).life.ended());
}

TEST(Life, ANodeThatIsAwayIsWaitedForButNotForEver) {
  constexpr const char* kAway = "ReqNodeNotAvail, UnavailableNodes:n0";
  Told told;
  EXPECT_FALSE(told.accepted().queue("PENDING", kAway).pass(200).queue("PENDING", kAway).life.ended());
  EXPECT_FALSE(told.queue("PENDING", "Resources").pass(200).queue("PENDING", kAway).life.ended())
      << "it had come back between";
  told.pass(301).queue("PENDING", kAway);
  EXPECT_EQ(told.end(), End::node_failed);
  EXPECT_FALSE(told.life.ended()->ran);
  EXPECT_TRUE(told.life.wants_cancel()) << "when the node comes back, it must not run";
}

TEST(Life, AnIdThatMayBeAnothersByNowIsNotCancelled) {
  Told told;
  told.accepted().queue("PENDING").unlisted();
  told.life.cancel("it is to be stopped");
  EXPECT_FALSE(told.life.wants_cancel());
  EXPECT_TRUE(told.queue("PENDING").life.wants_cancel()) << "it was only late";
}

TEST(Life, CancelledByAPersonWhileItWaited) {
  Told told;
  told.accepted().queue("PENDING").queue("CANCELLED").pass(6);
  EXPECT_EQ(told.end(), End::cancelled);
  EXPECT_FALSE(told.life.ended()->ran);
}

TEST(Life, CancelledByUs) {
  Told told;
  told.accepted();
  told.life.cancel("it is to be stopped");
  EXPECT_TRUE(told.life.wants_cancel());
  EXPECT_FALSE(told.queue("RUNNING").life.ended()) << "a cancel takes time";
  EXPECT_EQ(told.queue("CANCELLED").pass(6).end(), End::cancelled);
}

TEST(Life, ACancelBeforeSbatchAnsweredIsNotForgotten) {
  Told told;
  told.life.cancel("it is to be stopped");
  EXPECT_FALSE(told.life.wants_cancel()) << "there is no id yet";
  EXPECT_TRUE(told.accepted().life.wants_cancel());
}

TEST(Life, ARecordThatComesLateStillCounts) {
  Told told;
  told.accepted().queue("RUNNING").joined().left().queue("COMPLETED");
  EXPECT_TRUE(told.life.wants_record());
  EXPECT_FALSE(told.life.ended());
  EXPECT_EQ(told.recorded(3).end(), End::exited);
  EXPECT_EQ(told.life.ended()->record->status, 3);
}

TEST(Life, EachEndOfSlurmIsNamedWhenThereIsNoRecord) {
  const std::pair<const char*, End> ends[] = {
      {"TIMEOUT", End::timed_out}, {"OUT_OF_MEMORY", End::out_of_memory}, {"FAILED", End::failed},
      {"COMPLETED", End::failed},  {"PREEMPTED", End::cancelled},         {"DEADLINE", End::timed_out}};
  for (const auto& [state, end] : ends) {
    Told told;
    EXPECT_EQ(told.accepted().queue("RUNNING").joined().left().queue(state).pass(6).end(), end) << state;
  }
}

TEST(Life, AFailedNodeIsFencedBeforeItsTaskIsOver) {
  Told told;
  told.accepted().queue("RUNNING").joined().left().queue("NODE_FAIL");
  EXPECT_FALSE(told.pass(6).life.ended()) << "its processes may live on, unseen";
  EXPECT_EQ(told.pass(45).end(), End::node_failed);
}

TEST(Life, ANodeThatFailedBeforeTheAgentJoinedNeedsNoFence) {
  Told told;
  EXPECT_EQ(told.accepted().queue("RUNNING").queue("NODE_FAIL").pass(6).end(), End::node_failed);
}

TEST(Life, AnAgentThatSpeaksIsBelievedAgainstSlurm) {
  Told told;
  told.accepted().queue("RUNNING").joined().queue("NODE_FAIL").pass(1000);
  EXPECT_FALSE(told.life.ended());
  // Seen on 22.05.8: a controller that restarts takes NODE_FAIL back.
  EXPECT_EQ(told.queue("RUNNING").life.stage(), Stage::running);
  EXPECT_EQ(told.recorded().end(), End::exited);
}

TEST(Life, AControllerThatForgotTheJobDoesNotEndARunningOne) {
  Told told;
  told.accepted().queue("RUNNING").joined().unlisted().unlisted();
  EXPECT_FALSE(told.pass(1000).life.ended());
  told.left();
  EXPECT_FALSE(told.pass(10).life.ended());
  EXPECT_EQ(told.pass(45).end(), End::lost);
}

TEST(Life, AJobThatVanishesBeforeItRanIsLost) {
  Told told;
  told.accepted().queue("PENDING").unlisted();
  EXPECT_FALSE(told.life.ended());
  EXPECT_EQ(told.pass(6).end(), End::lost);
}

TEST(Life, ARequeuedJobIsCancelledNeverRunAgain) {
  Told told;
  told.accepted().queue("RUNNING").joined().left().queue("PENDING", "BeginTime");
  EXPECT_TRUE(told.life.wants_cancel());
  EXPECT_FALSE(told.life.ended());
  EXPECT_EQ(told.queue("CANCELLED").pass(6).end(), End::cancelled);
  EXPECT_NE(told.detail().find("back into its queue"), std::string::npos) << told.detail();
}

TEST(Life, ASilentAgentsJobIsCancelledAndInTheEndGivenUp) {
  Told told;
  told.accepted().queue("RUNNING").joined().left();
  EXPECT_EQ(told.life.stage(), Stage::silent);
  EXPECT_FALSE(told.life.wants_cancel()) << "its record may be on its way";
  EXPECT_TRUE(told.pass(6).life.wants_cancel());
  EXPECT_FALSE(told.queue("RUNNING").pass(50).life.ended());
  EXPECT_EQ(told.pass(50).end(), End::lost);
}

TEST(Life, AnAgentThatComesBackIsWelcome) {
  Told told;
  told.accepted().joined().left().joined();
  EXPECT_FALSE(told.pass(1000).life.ended());
  EXPECT_EQ(told.life.stage(), Stage::running);
}

TEST(Life, ASlurmThatDoesNotAnswerEndsNothingThatMayWait) {
  Told told;
  EXPECT_FALSE(told.accepted().pass(1e6).life.ended()) << "no answer is no news";
}

TEST(Life, TheEndOfItsTimeIsSeenComing) {
  Told told;
  told.accepted().queue("RUNNING", "None", Seconds{600});
  EXPECT_FALSE(told.life.walltime_near({told.now + 590})) << "nobody to make anything safe";
  told.joined();
  EXPECT_FALSE(told.life.walltime_near({told.now + 470}));
  EXPECT_TRUE(told.life.walltime_near({told.now + 490}));
}

// Whatever is heard in whatever order, a life ends once, and a record given before its end is its end.
TEST(Life, AnyOrderEndsOnce) {
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    Told told;
    unsigned bits = seed * 2654435761u;
    std::optional<End> first;
    for (int step = 0; step < 40; ++step) {
      bits = bits * 1664525u + 1013904223u;
      const bool was_over = told.life.ended().has_value();
      switch ((bits >> 24) % 12) {
        case 0:
          told.accepted();
          break;
        case 1:
          told.queue("PENDING");
          break;
        case 2:
          told.queue("RUNNING");
          break;
        case 3:
          told.queue("NODE_FAIL");
          break;
        case 4:
          told.queue("CANCELLED");
          break;
        case 5:
          told.unlisted();
          break;
        case 6:
          told.joined();
          break;
        case 7:
          told.left();
          break;
        case 8:
          told.life.cancel("enough");
          break;
        case 9:
          told.life.unanswered("no answer", {told.now});
          break;
        case 10:
          told.pass(3);
          break;
        case 11:
          if ((bits >> 20) % 4 == 0) {
            told.recorded();
            if (!was_over) {
              EXPECT_EQ(told.end(), End::exited);
            }
          }
          break;
      }
      if (!told.life.ended()) continue;
      if (!first) first = told.life.ended()->end;
      ASSERT_EQ(told.life.ended()->end, *first) << "seed " << seed << " step " << step;
      ASSERT_EQ(told.life.stage(), Stage::over);
    }
    // When all has been said and the job is gone, it is over.
    told.accepted().left().unlisted().pass(200);
    ASSERT_TRUE(told.life.ended()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tandem::slurm
