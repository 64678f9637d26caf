#include "event/view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace tandem {
namespace {

class ViewTest : public testing::Test {
 protected:
  ViewTest() {
    happens(NodeJoined{0, "here", {4, 8 * kGiB, 1.0}});
    spec::TrainJob job;
    job.epochs = 3;
    happens(JobSubmitted{0, job});
  }
  void happens(EventBody body) {
    clock_ += 1;
    view_.apply(Event{Seconds{clock_}, std::move(body)});
  }
  DecisionId decide(DecisionBody body) {
    const DecisionId id = view_.next_decision;
    view_.apply(Decision{id, std::move(body)});
    return id;
  }
  DecisionId start(Attempt attempt, Resources granted = {2, kGiB, 1.0}) {
    decide(Request{0, 0, granted});
    return decide(Start{0, attempt, 0, granted});
  }
  const TaskView& task() const { return view_.tasks.at(0); }
  const NodeView& node() const { return view_.nodes.at(0); }

  View view_;
  double clock_ = 100;
};

TEST_F(ViewTest, ResourcesLeaveWhenStartIsDecidedAndComeBackAtTheEnd) {
  const auto id = start(1);
  EXPECT_EQ(node().free_cores, 2);
  EXPECT_EQ(node().free_memory, 7 * kGiB);
  EXPECT_EQ(task().state, TaskState::starting);
  happens(TaskStarted{0, 1, id, 77, 5, {0, 1}});
  EXPECT_EQ(task().state, TaskState::running);
  EXPECT_TRUE(view_.open.empty());
  happens(TaskEnded{0, 1, {}});
  EXPECT_EQ(node().free_cores, 4);
  EXPECT_EQ(node().free_memory, 8 * kGiB);
  EXPECT_TRUE(view_.holding.empty());
}

TEST_F(ViewTest, ARefusedStartGivesBackAndCountsAsAFailure) {
  const auto id = start(1);
  happens(DecisionRefused{id, "no"});
  EXPECT_EQ(node().free_cores, 4);
  EXPECT_EQ(task().state, TaskState::failed);
  EXPECT_EQ(task().failures, 1);
}

TEST_F(ViewTest, AGangHoldsItsPartOfEachOfItsNodes) {
  happens(NodeJoined{1, "there", {4, 8 * kGiB, 1.0}});
  happens(NodeJoined{2, "elsewhere", {4, 8 * kGiB, 1.0}});
  Request request{0, 0, {2, kGiB, 1.0}};
  request.nodes = 2;
  decide(request);
  EXPECT_EQ(task().nodes_wanted, 2);
  const auto id = decide(Start{0, 1, 2, {2, kGiB, 1.0}, 0, {0}});
  const auto free = [&] {
    std::vector<int> out;
    for (const auto& one : view_.nodes) out.push_back(one.free_cores);
    return out;
  };
  EXPECT_EQ(free(), (std::vector{2, 4, 2}));
  EXPECT_TRUE(task().is_on(0) && task().is_on(2) && !task().is_on(1));
  happens(TaskStarted{0, 1, id, 77, 5, {0, 1}});
  decide(Hold{0, 1});
  EXPECT_EQ(free(), (std::vector{4, 4, 4}));
  decide(Resize{0, 1, {3, kGiB, 1.0}});
  EXPECT_EQ(free(), (std::vector{1, 4, 1}));
  happens(TaskEnded{0, 1, {}});
  EXPECT_EQ(free(), (std::vector{4, 4, 4}));
  EXPECT_EQ(view_.nodes[2].free_memory, 8 * kGiB);
}

TEST_F(ViewTest, ARefusedResizeRestoresWhatWasGranted) {
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  const auto id = decide(Resize{0, 1, {4, kGiB, 1.0}});
  EXPECT_EQ(node().free_cores, 0);
  happens(DecisionRefused{id, "no"});
  EXPECT_EQ(node().free_cores, 2);
  EXPECT_EQ(task().granted.cores, 2);
}

TEST_F(ViewTest, AResizeMovesResourcesBothWays) {
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  happens(SystemChanged{0, 1, decide(Resize{0, 1, {4, 2 * kGiB, 1.0}}), {4, 2 * kGiB, 1.0}});
  EXPECT_EQ(node().free_cores, 0);
  EXPECT_EQ(node().free_memory, 6 * kGiB);
  happens(SystemChanged{0, 1, decide(Resize{0, 1, {1, 0, 1.0}}), {1, 0, 1.0}});
  EXPECT_EQ(node().free_cores, 3);
  EXPECT_EQ(node().free_memory, 8 * kGiB);
}

TEST_F(ViewTest, ANewAttemptThatStartsOverSupersedesItsEpochsButNotTheirEnergy) {
  const Energy ten{Joules{10}, "model"};
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  happens(EpochEnded{0, 1, 1, {{"accuracy", 0.1}}, Seconds{1}, ten, {}});
  happens(EpochEnded{0, 1, 2, {{"accuracy", 0.2}}, Seconds{1}, ten, {}});
  happens(TaskFailed{0, 1, Failure::killed, "", "", Energy{Joules{1}, "model"}});
  happens(TaskStarted{0, 2, start(2), 78, 6, {0, 1}});
  happens(EpochEnded{0, 2, 1, {{"accuracy", 0.3}}, Seconds{1}, ten, {}});
  ASSERT_EQ(task().epochs.size(), 1u);
  EXPECT_EQ(task().epochs[0].attempt, 2);
  EXPECT_DOUBLE_EQ(task().joules().value, 31);
  EXPECT_TRUE(task().energy_complete);
}

TEST_F(ViewTest, TheEnergyOfTrainingIsWithoutThatOfStartingUp) {
  const Energy hundred{Joules{100}, "nvml"};
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  happens(EpochEnded{0, 1, 1, {}, Seconds{10}, hundred, {}, Seconds{8}, Joules{30}});
  happens(EpochEnded{0, 1, 2, {}, Seconds{10}, hundred, {}, Seconds{8}});
  happens(EpochEnded{0, 1, 3, {}, Seconds{10}, hundred, {}});
  happens(EpochEnded{0, 1, 4, {}, Seconds{10}, std::nullopt, {}});
  happens(EpochEnded{0, 1, 5, {}, Seconds{10}, sum_of({{"GPU", Joules{30}, "nvml"}, {"CPU"}}), {}});
  EXPECT_EQ(task().epochs[0].working_energy(), Joules{70});
  EXPECT_EQ(task().epochs[1].working_energy(), Joules{20}) << "by time, where nothing told them apart";
  EXPECT_EQ(task().epochs[2].working_energy(), Joules{100});
  EXPECT_FALSE(task().epochs[3].working_energy());
  EXPECT_FALSE(task().epochs[4].working_energy()) << "a part is missing";
}

TEST_F(ViewTest, PartsOfEnergyAddUpByDeviceAndSourceOverAllAttempts) {
  const Energy apart = sum_of({{"GPU", Joules{30}, "nvml"}, {"CPU", Joules{10}, "model", Joules{4}}});
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  happens(EpochEnded{0, 1, 1, {}, Seconds{2}, apart, {}});
  happens(EpochEnded{0, 1, 2, {}, Seconds{1}, apart, {}});
  EXPECT_DOUBLE_EQ(view_.jobs[0].most_power.value, 40);
  happens(TaskFailed{0, 1, Failure::killed, "", "", Energy{Joules{1}, "old"}});
  happens(TaskStarted{0, 2, start(2), 78, 6, {0, 1}});
  happens(EpochEnded{0, 2, 1, {}, Seconds{1}, apart, {}});  // the two epochs before no longer count
  const auto parts = task().energy_parts();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], (EnergyPart{"GPU", Joules{90}, "nvml"}));
  EXPECT_EQ(parts[1], (EnergyPart{"CPU", Joules{30}, "model", Joules{12}}));
  EXPECT_EQ(parts[2], (EnergyPart{"", Joules{1}, "old"})) << "not told apart";
  EXPECT_DOUBLE_EQ(task().joules().value, 121);
  EXPECT_TRUE(task().energy_complete);
  happens(EpochEnded{0, 2, 2, {}, Seconds{1}, sum_of({{"GPU", Joules{30}, "nvml"}, {"CPU"}}), {}});
  EXPECT_FALSE(task().energy_complete) << "nobody could tell its CPU part";
  EXPECT_DOUBLE_EQ(task().joules().value, 151);
}

TEST_F(ViewTest, EnergyThatNobodyMeasuredIsNotTakenForNothing) {
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  happens(EpochEnded{0, 1, 1, {}, Seconds{1}, std::nullopt, {}});
  EXPECT_FALSE(task().energy_complete);
  EXPECT_TRUE(task().energy_source.empty());
}

TEST_F(ViewTest, LosingAnAttemptIsNotHeldAgainstTheProgram) {
  start(1);
  happens(TaskFailed{0, 1, Failure::lost, "", "", {}});
  EXPECT_EQ(task().failures, 0);
  start(2);
  happens(TaskFailed{0, 2, Failure::killed, "", "", {}});
  EXPECT_EQ(task().failures, 1);
  happens(JobResumed{0});
  EXPECT_EQ(task().failures, 0);
}

TEST_F(ViewTest, AttemptsThatAreLostAtOnceAreCountedWhileTheyFollowEachOther) {
  const auto lost = [&](Attempt attempt, std::optional<Seconds> ran) {
    happens(TaskStarted{0, attempt, start(attempt), 77, 5, {0, 1}});
    happens(TaskFailed{0, attempt, Failure::lost, "", "", {}, ran});
    return task().lost_at_once;
  };
  EXPECT_EQ(lost(1, Seconds{3}), 1);
  EXPECT_EQ(lost(2, Seconds{59}), 2);
  EXPECT_EQ(lost(3, Seconds{61}), 0) << "it ran for a while";
  EXPECT_EQ(lost(4, std::nullopt), 0) << "nobody knows";
  EXPECT_EQ(lost(5, Seconds{0}), 1);
  happens(TaskStarted{0, 6, start(6), 77, 5, {0, 1}});
  happens(EpochEnded{0, 6, 1, {}, Seconds{1}, std::nullopt, {}});
  happens(TaskFailed{0, 6, Failure::lost, "", "", {}, Seconds{2}});
  EXPECT_EQ(task().lost_at_once, 0) << "it had reported";
  EXPECT_EQ(lost(7, Seconds{1}), 1);
  happens(JobResumed{0});
  EXPECT_EQ(task().lost_at_once, 0);
}

TEST_F(ViewTest, TimeBetweenSessionsIsNobodys) {
  start(1);
  happens(TaskFailed{0, 1, Failure::lost, "", "", {}});
  const double before = view_.jobs[0].active.value;
  clock_ += 10'000;
  happens(NodeJoined{0, "here", {4, 8 * kGiB, 1.0}});
  EXPECT_DOUBLE_EQ(view_.jobs[0].active.value, before);
  happens(Woke{0});
  EXPECT_DOUBLE_EQ(view_.jobs[0].active.value, before) << "nor is the time in which nothing of it runs";
  start(2);
  const double again = view_.jobs[0].active.value;
  happens(Woke{0});
  EXPECT_DOUBLE_EQ(view_.jobs[0].active.value, again + 1);
}

TEST_F(ViewTest, ANodeThatComesBackSmallerKeepsItsAccounts) {
  start(1);
  happens(NodeJoined{0, "here", {3, 8 * kGiB, 1.0}});
  EXPECT_EQ(node().free_cores, 1);
}

TEST_F(ViewTest, WhatWasObservedOfANodeIsKeptUntilItJoinsAgain) {
  for (int i = 0; i < 40; ++i) happens(NodeObserved{0, {.cpu = i / 100.0}});
  ASSERT_EQ(node().observed.size(), NodeView::kObserved);
  EXPECT_DOUBLE_EQ(*node().observed.front().load.cpu, 0.10);
  EXPECT_DOUBLE_EQ(*node().observed.back().load.cpu, 0.39);
  EXPECT_EQ(node().observed.back().at, view_.now);
  happens(NodeJoined{0, "here", {4, 8 * kGiB, 1.0}});
  EXPECT_TRUE(node().observed.empty()) << "nobody looked at it meanwhile";
  happens(NodeObserved{0, {.cpu = 0.5}});
  happens(NodeObserved{0, {}});
  EXPECT_TRUE(node().observed.empty()) << "it cannot be seen any more";
}

TEST_F(ViewTest, AJournalThatSpeaksOfUnknownThingsIsRefused) {
  EXPECT_THROW(happens(TaskEnded{5, 1, {}}), SystemError);
  EXPECT_THROW(happens(JobCancelled{3, ""}), SystemError);
  EXPECT_THROW(happens(NodeObserved{7, {.cpu = 0.5}}), SystemError);
  EXPECT_THROW(happens(TaskEnded{-1, 1, {}}), SystemError);
}

TEST_F(ViewTest, AHeldTaskKeepsItsMemoryAndLeavesItsCores) {
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  const auto memory = node().free_memory;
  happens(EpochEnded{0, 1, 1, {}, Seconds{1}, std::nullopt, {}});
  decide(Hold{0, 1});
  EXPECT_EQ(task().state, TaskState::held);
  EXPECT_EQ(node().free_cores, 4);
  EXPECT_EQ(node().free_memory, memory);
  EXPECT_TRUE(view_.holding.contains(0)) << "its process is there";
  decide(Request{0, 0, {1, kGiB, 1.0}});
  EXPECT_TRUE(view_.waiting.contains(0));
  happens(SystemChanged{0, 1, decide(Resize{0, 1, {1, kGiB, 1.0}}), {1, kGiB, 1.0}});
  decide(Continue{0, 1, 1});
  EXPECT_EQ(task().state, TaskState::running);
  EXPECT_EQ(node().free_cores, 3);
  happens(TaskEnded{0, 1, {}});
  EXPECT_EQ(node().free_cores, 4);
  EXPECT_EQ(node().free_memory, node().capacity.memory);
}

TEST_F(ViewTest, ATaskThatWaitsForItsAnswerAndGoesOnUnchangedHasItsCoresAgain) {
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  happens(EpochEnded{0, 1, 1, {}, Seconds{1}, std::nullopt, {}});
  decide(Request{0, 0, {2, kGiB, 1.0}});
  EXPECT_EQ(node().free_cores, 4);
  decide(Continue{0, 1, 1});
  EXPECT_EQ(node().free_cores, 2);
}

TEST_F(ViewTest, ARefusedResizeOfAHeldTaskLeavesItWaiting) {
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  happens(EpochEnded{0, 1, 1, {}, Seconds{1}, std::nullopt, {}});
  decide(Hold{0, 1});
  decide(Request{0, 0, {2, kGiB, 1.0}});
  const auto resize = decide(Resize{0, 1, {2, kGiB, 1.0}});
  decide(Continue{0, 1, 1});
  happens(DecisionRefused{resize, "no"});
  EXPECT_EQ(task().state, TaskState::waiting);
  EXPECT_TRUE(task().parked);
  EXPECT_EQ(node().free_cores, 4);
}

TEST_F(ViewTest, ATaskThatWasToldToGoOnDoesSoAsItWasWhereItsResizeIsRefused) {
  happens(TaskStarted{0, 1, start(1), 77, 5, {0, 1}});
  happens(EpochEnded{0, 1, 1, {}, Seconds{1}, std::nullopt, {}});
  decide(Request{0, 0, {2, kGiB, 1.0}});
  const auto resize = decide(Resize{0, 1, {4, kGiB, 1.0}});
  decide(Continue{0, 1, 1});
  happens(DecisionRefused{resize, "no"});
  EXPECT_EQ(task().state, TaskState::running);
  EXPECT_FALSE(task().parked);
  EXPECT_TRUE(task().keeps_size);
  EXPECT_EQ(task().granted.cores, 2);
  EXPECT_EQ(node().free_cores, 2);
  happens(TaskEnded{0, 1, {}});
  EXPECT_EQ(node().free_cores, 4);
  decide(Request{0, 0, {2, kGiB, 1.0}});
  decide(Start{0, 2, 0, {2, kGiB, 1.0}});
  EXPECT_FALSE(task().keeps_size) << "another program";
}

TEST_F(ViewTest, ArchivedJobsAreForgottenCountedAndKeepTheirIds) {
  View looks_back = view_;
  looks_back.keeps = {0};
  const std::vector<EventBody> then{TaskEnded{0, 1, {}}, JobsArchived{{0}}, JobSubmitted{1, {}}};
  for (View* view : {&view_, &looks_back}) {
    view->apply(Decision{view->next_decision, Request{0, 0, {2, kGiB, 1.0}}});
    view->apply(Decision{view->next_decision, Start{0, 1, 0, {2, kGiB, 1.0}}});
    view->apply(Event{Seconds{200}, then[0]});
    view->apply(Decision{view->next_decision, FinishJob{0, JobState::finished, "done"}});
    for (const auto& body : {then[1], then[2]}) view->apply(Event{Seconds{300}, body});
    view->apply(Decision{view->next_decision, Request{1, 1, {1, 0, 1.0}}});
  }
  EXPECT_FALSE(view_.jobs.contains(0));
  EXPECT_FALSE(view_.tasks.contains(0));
  EXPECT_EQ(view_.jobs.size(), 2U) << "ids are not given twice";
  EXPECT_EQ(view_.jobs.present(), 1U);
  EXPECT_EQ(view_.jobs.front().id, 1);
  EXPECT_EQ(view_.archived.at(JobState::finished), 1);
  EXPECT_EQ(node().free_cores, 4);
  EXPECT_THROW(happens(JobCancelled{0, "again"}), SystemError);
  EXPECT_EQ(looks_back.jobs.at(0).reason, "done") << "for who looks back it is still there";
  EXPECT_EQ(looks_back.tasks.at(0).state, TaskState::ended);
}

TEST_F(ViewTest, WhatAnEventAndItsDecisionsChangedIsToldUntilTheNextButOne) {
  const auto tells = [&](Touched::What what, std::int64_t id, std::uint64_t since) {
    for (std::uint64_t i = std::max(since, view_.touched_before); i < view_.touched_in_all(); ++i)
      if (const auto& one = view_.touched[i - view_.touched_before]; one.what == what && one.id == id)
        return true;
    return false;
  };
  auto seen = view_.touched_in_all();
  const auto id = start(1);
  EXPECT_TRUE(tells(Touched::What::task, 0, seen));
  happens(TaskStarted{0, 1, id, 77, 5, {0, 1}});
  EXPECT_TRUE(tells(Touched::What::task, 0, seen));
  seen = view_.touched_in_all();
  happens(NodeJoined{1, "there", {4, 8 * kGiB, 1.0}});
  EXPECT_TRUE(tells(Touched::What::node, 1, seen));
  EXPECT_FALSE(tells(Touched::What::task, 0, seen));
  happens(JobCancelled{0, "enough"});
  EXPECT_TRUE(tells(Touched::What::job, 0, seen));
  EXPECT_LE(view_.touched_before, seen) << "nothing since the last event but one is forgotten";
}

TEST_F(ViewTest, OpenDecisionsAreFoundByTheirTaskAndWakesByTheirTime) {
  start(1);
  const auto stop = decide(Stop{0, 1, "enough"});
  decide(Wake{Seconds{500}});
  EXPECT_EQ(view_.open_of_task.size(), 2u);
  EXPECT_TRUE(view_.open_of_task.contains({0, stop}));
  EXPECT_TRUE(view_.open_wakes.contains(500));
  happens(TaskEnded{0, 1, {}});
  EXPECT_TRUE(view_.open_of_task.empty());
  EXPECT_EQ(view_.open.size(), 1u) << "the wake";
  happens(Woke{view_.open.begin()->first});
  EXPECT_TRUE(view_.open_wakes.empty());
}

// However many jobs are at work at once, each has been so for as long as its task was there.
TEST_F(ViewTest, TimeAtWorkIsCountedAlsoWhereVeryManyAreAtWork) {
  spec::TrainJob limited;
  limited.limits.time = Seconds{1000};
  const int jobs = 2 * static_cast<int>(View::kTasksCounted);
  for (int i = 1; i <= jobs; ++i) happens(JobSubmitted{i, limited});
  for (int i = 0; i <= jobs; ++i) {
    decide(Request{i, i, {1, 0, 1.0}});
    decide(Start{i, 1, 0, {1, 0, 1.0}});
    happens(Woke{0});
  }
  EXPECT_DOUBLE_EQ(view_.jobs[1].active.value, jobs) << "one with a limit is always up to date";
  for (int i = 0; i <= jobs; ++i) happens(TaskEnded{i, 1, {}});
  for (int i = 0; i <= jobs; ++i)
    EXPECT_DOUBLE_EQ(view_.jobs[static_cast<std::size_t>(i)].active.value, jobs + 2) << i;
}

}  // namespace
}  // namespace tandem
