// Infrastructure-aware placement in the scheduler: who is avoided, who is taken, what is learnt and said.
#include "place/engine/scheduler_testing.h"

namespace tandem::place {
namespace {

class InfraScheduler : public SchedulerTest {
 protected:
  NodeId node_of(TaskId task) const { return at(task).node; }
  const Consideration& row(const Explanation& why, const std::string& name) const {
    for (const auto& c : why.types)
      if (c.type == name) return c;
    ADD_FAILURE() << "no row for " << name;
    return why.types.front();
  }
};

TEST_F(InfraScheduler, ABusyNodeIsAvoidedUntilItIsCalm) {
  policy("infra");
  const auto first = node("a", 4), second = node("a", 4);
  observed(first, {.cpu = 0.85});
  observed(second, {.cpu = 0.3});
  EXPECT_EQ(node_of(job(1, 10)), second);
  EXPECT_EQ(node_of(job(1, 10)), second);
  after(10);
  observed(first, {.cpu = 0.0});
  EXPECT_EQ(node_of(job(1, 10)), first);
}

TEST_F(InfraScheduler, WhereNoNodeIsFitABusyOneIsTakenBeforeAStraggler) {
  policy("infra");
  const auto straggler = node("a", 4), busy = node("a", 1);
  observed(straggler, {.cpu = 0.95});
  observed(busy, {.network = 0.85});
  EXPECT_EQ(node_of(job(1, 10)), busy);
  EXPECT_EQ(node_of(job(1, 10)), straggler) << "the busy one is full";
}

TEST_F(InfraScheduler, OrTheJobWaitsWhereTheOperatorWantsThat) {
  policy("infra:readmit=no");
  const auto only = node("a", 4);
  observed(only, {.cpu = 0.85});
  const auto waits = job(1, 10);
  EXPECT_FALSE(runs(waits));
  const auto why = scheduler_->explain(view_, waits);
  EXPECT_EQ(row(why, "a0").refused, "busy: its CPU is 85 % in use, the threshold is 80 %");
  EXPECT_NE(why.verdict.find("no node is fit"), std::string::npos) << why.verdict;
  EXPECT_FALSE(why.expected_start);
  observed(only, {.cpu = 0.2});
  EXPECT_TRUE(runs(waits));
}

TEST_F(InfraScheduler, ANodeThatNobodySawIsNotUsed) {
  policy("infra");
  const auto only = node("a", 4);
  const auto waits = job(1, 10);
  EXPECT_FALSE(runs(waits));
  EXPECT_EQ(row(scheduler_->explain(view_, waits), "a0").refused, "not seen: it was never observed");
  observed(only, {.cpu = 0.5});
  EXPECT_TRUE(runs(waits));
}

TEST_F(InfraScheduler, ASpikeMakesNoStragglerButAnHourDoes) {
  policy("infra:readmit=no");
  const auto only = node("a", 4);
  observed(only, {.cpu = 0.1});
  after(3600);
  observed(only, {.cpu = 0.97});
  const auto waits = job(1, 10);
  EXPECT_TRUE(row(scheduler_->explain(view_, waits), "a0").refused.starts_with("busy: "));
  after(3600);
  EXPECT_TRUE(row(scheduler_->explain(view_, waits), "a0").refused.starts_with("straggler: "))
      << "nothing new was said of it: it was overloaded all the while";
}

TEST_F(InfraScheduler, WhatOurOwnTasksHoldIsNoLoadButNotFreeEither) {
  policy("infra");
  const auto first = node("a", 4), second = node("a", 4);
  observed(first, {.cpu = 0.0});
  observed(second, {.cpu = 0.1});
  EXPECT_EQ(node_of(job(2, 10)), first);
  EXPECT_EQ(node_of(job(2, 10)), second) << "half of the first is ours already";
  EXPECT_EQ(node_of(job(2, 10)), first);
  EXPECT_EQ(node_of(job(2, 10)), second) << "a tenth is what any machine uses for itself";
}

TEST_F(InfraScheduler, BandwidthIsADemand) {
  policy("infra:readmit=no");
  NodeTraits traits;
  traits.bandwidth = 125e6;
  happens(NodeJoined{0, "used", {4, 0, 1.0}, "a", traits});
  happens(NodeJoined{1, "unknown", {4, 0, 1.0}, "a", traits});
  observed(0, {.cpu = 0.0, .network = 0.5});
  observed(1, {.cpu = 0.0});
  const auto waits = job(1, 10, {.bandwidth = 100e6});
  EXPECT_FALSE(runs(waits));
  const auto why = scheduler_->explain(view_, waits);
  EXPECT_EQ(row(why, "used").refused, "busy: 100 MB/s are demanded, 62.5 MB/s are free");
  EXPECT_TRUE(row(why, "unknown").refused.starts_with("lacking hardware: ")) << "what its network carries";
  EXPECT_TRUE(runs(job(1, 10, {.bandwidth = 50e6})));
  observed(0, {.cpu = 0.0, .network = 0.1});
  EXPECT_FALSE(runs(waits)) << "50 MB/s are promised to the other";
  ends(1);
  EXPECT_TRUE(runs(waits));
}

TEST_F(InfraScheduler, FiltersOfTheJobHoldAndAreNamed) {
  policy("infra");
  observed(node("plain", 4), {.cpu = 0.0});
  const auto waits = job(1, 10, {.labels = {"ssd"}});
  EXPECT_FALSE(runs(waits));
  const auto why = scheduler_->explain(view_, waits);
  EXPECT_EQ(row(why, "plain").refused, "affinity: has no ssd");
  EXPECT_NE(why.verdict.find("ever"), std::string::npos) << why.verdict;
}

TEST_F(InfraScheduler, AReadmittedNodeIsSaidToBe) {
  policy("infra");
  const auto only = node("a", 1);
  observed(only, {.cpu = 0.0});
  job(1, 100);
  observed(only, {.cpu = 0.85});
  const auto waits = job(1, 10);
  const auto full = scheduler_->explain(view_, waits);
  EXPECT_EQ(row(full, "a0").refused, kNoRoom);
  EXPECT_NE(row(full, "a0").why.find("asked for, 0 of"), std::string::npos) << row(full, "a0").why;
  const auto other = node("a", 1);
  view_.apply(Event{view_.now, NodeObserved{other, {.cpu = 0.9, .network = 0.0}}});
  const auto why = scheduler_->explain(view_, waits);
  EXPECT_EQ(row(why, "a1").refused, "");
  EXPECT_NE(row(why, "a1").why.find("no node is fit"), std::string::npos);
}

// Jobs of a family that live on their CPU: twice as long where half of it is used, and so on.
TEST_F(InfraScheduler, AFamilyLearnsItsThresholdsFromTasksThatEnded) {
  policy("infra");
  const auto only = node("a", 8);
  const auto family = [] { return spec::PlaceSpec{.family = "cpu-bound"}; };
  EXPECT_DOUBLE_EQ(scheduler_->classes().thresholds("cpu-bound")[Resource::cpu], 0.8);
  for (int i = 0; i < 12; ++i) {
    const double load = 0.05 * (i % 12);
    observed(only, {.cpu = load});
    const auto task = job(1, 0, family());
    starts(task);
    after(10 / (1 - load));
    ends(task);
  }
  EXPECT_EQ(scheduler_->classes().runs("cpu-bound"), 12U);
  EXPECT_NEAR(scheduler_->classes().thresholds("cpu-bound")[Resource::cpu], 0.2, 0.02);
  EXPECT_DOUBLE_EQ(scheduler_->classes().thresholds("other")[Resource::cpu], 0.8);
  observed(only, {.cpu = 0.4});
  const auto calm = node("a", 1);
  observed(calm, {.cpu = 0.1});
  EXPECT_EQ(node_of(job(1, 10, family())), calm) << "40 % slows this family by more than a quarter";
}

TEST_F(InfraScheduler, FoldingTheSameEventsTeachesTheSame) {
  policy("infra");
  observed(node("a", 8), {.cpu = 0.5});
  Scheduler folded(parse_policy("infra"), 1);
  for (int i = 0; i < 9; ++i) {
    const auto task = job(1, 0, {.family = "f"});
    starts(task);
    folded.fold(view_, Event{view_.now, TaskStarted{task, 1, 0, 0, 0, {}}}, {});
    after(5);
    ends(task);
    folded.fold(view_, Event{view_.now, TaskEnded{task, 1, {}}}, {});
  }
  EXPECT_EQ(folded.classes().runs("f"), 9U);
  EXPECT_EQ(folded.classes().thresholds("f"), scheduler_->classes().thresholds("f"));
}

}  // namespace
}  // namespace tandem::place
