#include "place/engine/scheduler_testing.h"

namespace tandem::place {
namespace {

TEST_F(SchedulerTest, WhatAJobAsksOfItsMachineHoldsUnderEveryPolicy) {
  for (const auto& entry : policies()) {
    view_ = {};
    policy(entry.name);
    observed(node("plain", 4), {.cpu = 0});
    EXPECT_TRUE(runs(job(1, 10, {.labels = {"plain"}}))) << entry.name;
    EXPECT_FALSE(runs(job(1, 10, {.labels = {"ssd"}}))) << entry.name;
    EXPECT_FALSE(runs(job(1, 10, {.architecture = "arm64"}))) << entry.name;
  }
}

TEST_F(SchedulerTest, AGangHasANodeEachOfOneTypeOrWaitsUnderEveryPolicy) {
  for (const auto& entry : policies()) {
    view_ = {};
    policy(entry.name);
    observed(node("small", 4, 2), {.cpu = 0});
    observed(node("large", 8), {.cpu = 0});
    observed(node("large", 8), {.cpu = 0});
    const TaskId gang = job(4, 10, {}, 2);
    ASSERT_TRUE(runs(gang)) << entry.name;
    EXPECT_EQ(nodes_of(gang), (std::vector<NodeId>{1, 2})) << entry.name << ": of small ones there is one";
    const TaskId second = job(5, 10, {}, 2);
    EXPECT_FALSE(runs(second)) << entry.name;
    EXPECT_EQ(view_.nodes[1].free_cores, 4) << entry.name << ": who waits holds nothing";
    starts(gang);
    ends(gang);
    EXPECT_EQ(nodes_of(second), (std::vector<NodeId>{1, 2})) << entry.name;
  }
}

TEST_F(SchedulerTest, WhyAGangWaitsSpeaksOfAllItsNodes) {
  policy("first-fit");
  node("large", 8);
  node("large", 8);
  ASSERT_TRUE(runs(job(8, 10)));
  const auto waits = scheduler_->explain(view_, job(4, 10, {}, 2));
  EXPECT_EQ(waits.types.at(0).refused, "no room now") << "one node has room, two are asked for";
  EXPECT_EQ(waits.expected_start, view_.now + Seconds{10});
  const auto never = scheduler_->explain(view_, job(4, 10, {}, 3));
  EXPECT_EQ(never.types.at(0).refused, "3 nodes asked for, there are 2");
}

TEST_F(SchedulerTest, AGangIsPreemptedWholeAndMakesRoomOnAllItsNodes) {
  policy("preempt-restart");
  node("n", 4);
  node("n", 4);
  const TaskId gang = job(4, 100, {}, 2);
  starts(gang);
  const TaskId urgent = job(4, 10, {.priority = 5}, 2);
  EXPECT_EQ(at(gang).state, TaskState::stopping);
  ends(gang);
  EXPECT_EQ(nodes_of(urgent), (std::vector<NodeId>{0, 1}));
  EXPECT_FALSE(runs(gang));
  starts(urgent);
  ends(urgent);
  EXPECT_TRUE(runs(gang));
}

TEST_F(SchedulerTest, HeatsPlacesByTheJobsOwnWeight) {
  policy("heats:H=0.5:x=0");
  node("fast", 4, 1, 50, 250);
  node("thrifty", 4, 0.5, 5, 15);
  EXPECT_EQ(type_of(job(1, 100, {.energy_weight = 0.0})), "fast");
  EXPECT_EQ(type_of(job(1, 100, {.energy_weight = 1.0})), "thrifty");
}

TEST_F(SchedulerTest, WithoutKnownPowerTimeDecides) {
  policy("heats:H=1:x=0");
  node("slow", 4, 0.5, 5, 15);
  node("fast", 4, 1, 0, 0);
  EXPECT_EQ(type_of(job(1, 100)), "fast");
}

TEST_F(SchedulerTest, FifoBlocksAndFirstFitDoesNot) {
  for (const bool blocks : {true, false}) {
    view_ = {};
    policy(blocks ? "fifo" : "first-fit");
    node("a", 4);
    const auto running = job(3, 10), large = job(4, 10), small = job(1, 10);
    EXPECT_TRUE(runs(running));
    EXPECT_FALSE(runs(large));
    EXPECT_EQ(runs(small), !blocks);
  }
}

TEST_F(SchedulerTest, BackfillLetsPassOnlyWhoDelaysNobody) {
  policy("backfill");
  node("a", 4);
  const auto running = job(3, 100);
  starts(running);
  const auto large = job(4, 10);
  EXPECT_FALSE(runs(large));
  EXPECT_FALSE(runs(job(1, 200))) << "it would delay the large one";
  EXPECT_TRUE(runs(job(1, 50)));
  EXPECT_FALSE(runs(job(1, 0))) << "nobody knows how long it takes";
}

TEST_F(SchedulerTest, PriorityEvictsTheLowestAndNoMoreThanItNeeds) {
  policy("preempt-resume");
  node("a", 4);
  const auto low = job(2, 100, {.priority = 1}), lower = job(1, 100, {.priority = 0}),
             other = job(1, 100, {.priority = 1});
  for (const auto task : {low, lower, other}) starts(task);
  const auto high = job(1, 10, {.priority = 9});
  EXPECT_EQ(at(lower).state, TaskState::stopping);
  EXPECT_TRUE(at(lower).evicted);
  EXPECT_TRUE(runs(low) && runs(other));
  after(1);
  const auto wide = job(3, 10, {.priority = 5});  // needs both others, besides
  EXPECT_EQ(at(low).state, TaskState::stopping);
  EXPECT_EQ(at(other).state, TaskState::stopping);
  ends(lower);
  EXPECT_TRUE(runs(high));
  ends(low), ends(other);
  EXPECT_TRUE(runs(wide));
  EXPECT_FALSE(runs(low) || runs(other) || runs(lower));
  starts(high), starts(wide);
  ends(high), ends(wide);
  EXPECT_TRUE(runs(low) && runs(other) && runs(lower)) << "they go on when there is room again";
}

TEST_F(SchedulerTest, DiasDropsWorkOfThoseBelowThatTolerateIt) {
  policy("dias:recently=100");
  node("a", 8);
  EXPECT_EQ(at(job(1, 10, {.priority = 0, .loss = 0.15})).drop, 0) << "nobody stands above it";
  const auto high = job(1, 10, {.priority = 5, .loss = 0.5});
  EXPECT_EQ(at(high).drop, 0);
  EXPECT_NEAR(at(job(1, 10, {.priority = 0, .loss = 0.15})).drop, 0.2, 1e-9) << "loses 15 %";
  EXPECT_NEAR(at(job(1, 10, {.priority = 0, .loss = 0.9})).drop, 0.4, 1e-9) << "no more was measured";
  EXPECT_EQ(at(job(1, 10, {.priority = 0})).drop, 0) << "it tolerates nothing";
  starts(high);
  ends(high);
  after(50);
  EXPECT_GT(at(job(1, 10, {.priority = 0, .loss = 0.15})).drop, 0) << "such a one came lately";
  after(51);
  EXPECT_EQ(at(job(1, 10, {.priority = 0, .loss = 0.15})).drop, 0);
}

TEST_F(SchedulerTest, EqualPriorityEvictsNobody) {
  policy("preempt-restart");
  node("a", 1);
  const auto first = job(1, 100, {.priority = 3});
  starts(first);
  job(1, 10, {.priority = 3});
  EXPECT_TRUE(runs(first));
}

TEST_F(SchedulerTest, ANodeThatIsDownIsNotUsedUntilItIsBack) {
  policy("first-fit");
  const auto here = node("a", 2);
  happens(NodeJoined{here, "a0", {0, 0, 1.0}, "a", view_.nodes[0].traits});
  const auto task = job(1, 10);
  EXPECT_FALSE(runs(task));
  EXPECT_NE(scheduler_->explain(view_, task).verdict.find("no machine that it may use has room"),
            std::string::npos);
  happens(NodeJoined{here, "a0", view_.nodes[0].largest, "a", view_.nodes[0].traits});
  EXPECT_TRUE(runs(task));
}

TEST_F(SchedulerTest, MachinesThatMissTheDeadlineComeLast) {
  policy("heats:H=1:x=0");
  node("fast", 1, 1, 50, 250);
  node("thrifty", 4, 0.5, 5, 15);
  EXPECT_EQ(type_of(job(1, 100, {.deadline = Seconds{150}})), "fast");
  EXPECT_EQ(type_of(job(1, 100, {.deadline = Seconds{150}})), "thrifty") << "late is better than never";
}

TEST_F(SchedulerTest, HeatsMovesATaskWhenABetterMachineIsFreeAndNobodyWaits) {
  policy("heats:H=1:x=10:cost=1");
  node("fast", 1, 1, 50, 250);
  node("thrifty", 1, 0.5, 5, 15);
  const auto first = job(1, 100), second = job(1, 1000);
  starts(first), starts(second);
  EXPECT_EQ(type_of(first), "thrifty");
  EXPECT_EQ(type_of(second), "fast");
  const auto third = job(1, 10);
  after(200);
  ends(first);  // third takes its place
  starts(third);
  wakes();
  EXPECT_TRUE(runs(second)) << "there is no better place";
  after(30);
  ends(third);
  wakes();
  EXPECT_EQ(at(second).state, TaskState::stopping);
  EXPECT_TRUE(at(second).evicted);
  ends(second);
  EXPECT_EQ(type_of(second), "thrifty");
}

TEST_F(SchedulerTest, ATaskThatIsNearlyDoneStays) {
  policy("heats:H=1:x=10:cost=1");
  node("fast", 1, 1, 50, 250);
  node("thrifty", 1, 0.5, 5, 15);
  const auto first = job(1, 100), second = job(1, 1000);
  starts(first), starts(second);
  after(990);
  ends(first);
  wakes();
  EXPECT_TRUE(runs(second)) << "a plain program would start over";
}

TEST_F(SchedulerTest, ExplainsWhatFiltersSaidAndWhenAJobWillStart) {
  policy("heats:H=0:x=0");
  node("a", 2);
  node("b", 8);
  auto traits = view_.nodes[1].traits;
  traits.labels = {"ssd"};
  happens(NodeJoined{1, "b1", view_.nodes[1].largest, "b", traits});
  const auto on_b = job(8, 100, {.labels = {"ssd"}});
  starts(on_b);
  after(40);
  const auto waits = job(4, 10, {.labels = {"ssd"}});
  const auto why = scheduler_->explain(view_, waits);
  ASSERT_EQ(why.types.size(), 2U);
  EXPECT_EQ(why.types[0].type, "b");
  EXPECT_EQ(why.types[0].refused, "no room now");
  EXPECT_FALSE(why.types[1].refused.empty());
  ASSERT_TRUE(why.expected_start);
  EXPECT_NEAR((*why.expected_start - view_.now).value, 60, 1e-6);
  const auto never = scheduler_->explain(view_, job(99, 1));
  EXPECT_NE(never.verdict.find("can ever run it"), std::string::npos);
}

TEST_F(SchedulerTest, LearnsFromTasksOfAFamilyAndForgetsNothingOnFold) {
  policy("heats:H=0:x=0");
  node("a", 1, 1);
  node("b", 1, 1);
  const auto runs_for = [&](double work, double seconds) {
    const auto task = job(1, 0, {.family = "k-means", .work = work});
    starts(task);
    after(seconds);
    ends(task);
  };
  runs_for(100, 50);  // on a: half a second a unit
  const auto task = job(1, 0, {.family = "k-means", .work = 300});
  const auto why = scheduler_->explain(view_, task);
  for (const auto& c : why.types) {
    EXPECT_NEAR(c.expected.seconds, 150, 1e-9) << c.type;
    EXPECT_EQ(c.expected.from, c.type == "a" ? Expected::From::learnt : Expected::From::related);
  }
}

TEST_F(SchedulerTest, SaysHowFarEarlierPredictionsWereOff) {
  policy("heats:H=0:x=0");
  node("a", 1, 1);
  const auto runs_for = [&](double seconds) {
    const auto task = job(1, 0, {.family = "k-means", .work = 100});
    const auto said = scheduler_->explain(view_, task).types.at(0).expected.within;
    starts(task);
    after(seconds);
    ends(task);
    return said;
  };
  for (int i = 0; i < 6; ++i) EXPECT_EQ(runs_for(50), 0) << "too few to say, run " << i;
  EXPECT_NEAR(runs_for(100), 0, 1e-6) << "all were alike until now";
  EXPECT_NEAR(runs_for(50), 0.5, 1e-3) << "one of six was twice as long as predicted";
}

TEST_F(SchedulerTest, ReportsAreAnsweredAndTasksHeldGoOnWhenTheirCoresAreFree) {
  policy("first-fit");
  node("a", 2);
  spec::TrainJob spec;
  spec.epochs = 3;
  view_.apply(Event{view_.now, JobSubmitted{0, spec}});
  view_.apply(Decision{view_.next_decision, Request{0, 0, {2, 0, 1.0}}});
  happens(Woke{999});
  ASSERT_TRUE(runs(0));
  starts(0);
  view_.apply(Event{view_.now, EpochEnded{0, 1, 1, {}, Seconds{1}, {}, {}}});
  view_.apply(Decision{view_.next_decision, Request{0, 0, {2, 0, 1.0}}});
  EXPECT_EQ(at(0).state, TaskState::waiting);
  happens(Woke{999});
  EXPECT_EQ(at(0).state, TaskState::running);
  EXPECT_EQ(at(0).cores_held, 2);
}

TEST_F(SchedulerTest, ACancelledJobIsStoppedAndOneThatWaitsIsNotStarted) {
  policy("fifo");
  node("a", 1);
  const auto first = job(1, 10), second = job(1, 10);
  starts(first);
  view_.apply(Event{view_.now, JobCancelled{job_of(second).id, "enough"}});
  happens(JobCancelled{job_of(first).id, "enough"});
  EXPECT_EQ(at(first).state, TaskState::stopping);
  EXPECT_FALSE(at(first).evicted);
  ends(first);
  EXPECT_FALSE(runs(second));
}

TEST_F(SchedulerTest, WhoReportsAndGoesOnHasItsCoresBeforeThoseThatWait) {
  policy("first-fit");
  node("a", 2);
  spec::TrainJob spec;
  spec.epochs = 3;
  view_.apply(Event{view_.now, JobSubmitted{0, spec}});
  view_.apply(Decision{view_.next_decision, Request{0, 0, {2, 0, 1.0}}});
  happens(Woke{999});
  starts(0);
  const auto waits = job(2, 10);
  EXPECT_FALSE(runs(waits));
  view_.apply(Event{view_.now, EpochEnded{0, 1, 1, {}, Seconds{1}, {}, {}}});
  view_.apply(
      Decision{view_.next_decision, Request{0, 0, {2, 0, 1.0}}});  // its cores are free until it is answered
  happens(Woke{999});
  EXPECT_EQ(at(0).state, TaskState::running);
  EXPECT_FALSE(runs(waits));
  EXPECT_EQ(view_.nodes[0].free_cores, 0);
}

TEST_F(SchedulerTest, NodesThatJoinOrChangeAreFollowedWhileOthersWaitAndRun) {
  policy("first-fit");
  const auto first = node("a", 2);
  const auto runs_there = job(2, 10), waits = job(2, 10);
  EXPECT_FALSE(runs(waits));
  node("a", 2);
  EXPECT_TRUE(runs(waits));
  EXPECT_EQ(at(waits).node, 1);
  EXPECT_EQ(scheduler_->check(view_), "");
  const auto large = job(4, 10);
  happens(NodeJoined{first, "a0", {6, Bytes{1} << 33, 1.0}, "a", view_.nodes[0].traits});
  EXPECT_EQ(scheduler_->check(view_), "");
  EXPECT_TRUE(runs(large)) << "the node became a larger one";
  EXPECT_EQ(view_.nodes[0].free_cores, 0);
  EXPECT_TRUE(runs(runs_there));
}

TEST_F(SchedulerTest, WhatWasArchivedIsForgottenHoweverLongItLives) {
  policy("backfill");
  node("a", 4);
  const TaskId long_one = job(1, 1e6);
  starts(long_one);
  for (int i = 0; i < 2000; ++i) {
    const TaskId task = job(1, 10);
    starts(task);
    after(10);
    ends(task);
    happens(JobsArchived{{at(task).job}});
  }
  EXPECT_LT(scheduler_->room_for_tasks(), 1000u) << "of 2001 that came";
  EXPECT_TRUE(runs(long_one));
  EXPECT_EQ(scheduler_->check(view_), "");
}

}  // namespace
}  // namespace tandem::place
