// What every world must do (DESIGN section 1). A new world adds a candidate (candidates_testing.h) and passes
// unchanged.
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "tests/contract/candidates_testing.h"

namespace tandem {
namespace {

TEST_P(WorldContract, AStartHasOneOutcomeAndEpochsComeInOrder) {
  submit(candidate_->well_behaved());
  start();
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    EXPECT_EQ(until<EpochEnded>().epoch, epoch);
    decide(Continue{0, 1, epoch});
  }
  until<TaskEnded>();
  EXPECT_EQ(count<TaskStarted>(), 1);
  EXPECT_EQ(count<EpochEnded>(), 3);
  EXPECT_TRUE(view_.open.empty());
}

TEST_P(WorldContract, AReportIsAnsweredOnlyByADecision) {
  submit(candidate_->well_behaved());
  start();
  until<EpochEnded>();
  for (const auto& event : candidate_->world().wait(Seconds{0.2}))
    EXPECT_FALSE(std::holds_alternative<EpochEnded>(event.body)) << "it went on by itself";
}

TEST_P(WorldContract, TheSameStartTwiceStartsOnce) {
  submit(candidate_->well_behaved(), 1);
  start();
  candidate_->world().carry_out(Decision{view_.next_decision - 1, Start{0, 1, 0, {}}}, view_);
  until<EpochEnded>();
  decide(Continue{0, 1, 1});
  until<TaskEnded>();
  EXPECT_EQ(count<TaskStarted>(), 1);
}

TEST_P(WorldContract, NothingIsGrantedTwice) {
  submit(candidate_->hanging());
  const auto whole = view_.nodes[0].capacity;
  start(0, 1, {whole.cores, 0, 1.0});
  until<TaskStarted>();
  const auto second = decide(Request{1, 0, {1, 0, 1.0}}) + 1;
  decide(Start{1, 1, 0, {1, 0, 1.0}});
  EXPECT_EQ(until<DecisionRefused>().decision, second);
}

TEST_P(WorldContract, AResizeIsConfirmedAndWhatItFreedCanBeUsed) {
  if (view_.nodes[0].capacity.cores < 2) GTEST_SKIP() << "one core only";
  submit(candidate_->hanging());
  start(0, 1, {view_.nodes[0].capacity.cores, 0, 1.0});
  until<TaskStarted>();
  const auto resize = decide(Resize{0, 1, {1, 0, 1.0}});
  const auto changed = until<SystemChanged>();
  EXPECT_EQ(changed.decision, resize);
  EXPECT_EQ(changed.granted.cores, 1);
  start(1, 1, {1, 0, 1.0});
  EXPECT_EQ(until<TaskStarted>().task, 1);
  decide(Resize{0, 1, {view_.nodes[0].capacity.cores, 0, 1.0}});
  until<DecisionRefused>();
  EXPECT_EQ(view_.tasks[0].granted.cores, 1);
}

TEST_P(WorldContract, AHeldTaskLeavesItsCoresToOthersAndGoesOnWhenItHasThemAgain) {
  submit(candidate_->well_behaved());
  const Resources whole{view_.nodes[0].capacity.cores, 0, 1.0};
  start(0, 1, whole);
  until<EpochEnded>();
  decide(Hold{0, 1});
  start(1, 1, whole);
  EXPECT_EQ(until<EpochEnded>().task, 1);
  decide(Request{0, 0, whole});
  decide(Continue{0, 1, 1});  // without cores it cannot go on
  decide(Stop{1, 1, "enough"});
  EXPECT_EQ(until<TaskEnded>().task, 1);
  EXPECT_EQ(view_.tasks[0].reported(), 1);
  decide(Resize{0, 1, whole});
  EXPECT_EQ(until<SystemChanged>().task, 0);
  decide(Continue{0, 1, 1});
  const auto next = until<EpochEnded>();
  EXPECT_EQ(next.task, 0);
  EXPECT_EQ(next.epoch, 2);
}

TEST_P(WorldContract, AHeldTaskCanBeStopped) {
  submit(candidate_->well_behaved());
  start();
  until<EpochEnded>();
  decide(Hold{0, 1});
  decide(Stop{0, 1, "enough"});
  EXPECT_EQ(until<TaskEnded>().task, 0);
  EXPECT_EQ(view_.nodes[0].free_cores, view_.nodes[0].capacity.cores);
}

TEST_P(WorldContract, AStopEndsATaskThatWaitsAndOneThatDoesNot) {
  submit(candidate_->well_behaved());
  start();
  until<EpochEnded>();
  decide(Stop{0, 1, "enough"});
  EXPECT_EQ(until<TaskEnded>().task, 0);
  EXPECT_TRUE(view_.open.empty());

  spec::base_of(view_.jobs[0].spec).program = candidate_->hanging();
  start(1);
  until<TaskStarted>();
  decide(Stop{1, 1, "enough"});
  EXPECT_EQ(until<TaskEnded>().task, 1);
  EXPECT_EQ(count<TaskFailed>(), 0);
}

TEST_P(WorldContract, CommandsForAnAttemptThatIsOverAreRefused) {
  submit(candidate_->well_behaved(), 1);
  start();
  until<EpochEnded>();
  decide(Continue{0, 1, 1});
  until<TaskEnded>();
  const auto late = decide(TakeCheckpoint{0, 1});
  EXPECT_EQ(until<DecisionRefused>().decision, late);
}

TEST_P(WorldContract, AStalledTaskFailsAsSuch) {
  submit(candidate_->hanging(), 3, Seconds{0.3});
  start();
  EXPECT_EQ(until<TaskFailed>().failure, Failure::stalled);
}

TEST_P(WorldContract, ACheckpointIsTakenWhenAskedFor) {
  submit(candidate_->well_behaved());
  start();
  until<EpochEnded>();
  const auto asked = decide(TakeCheckpoint{0, 1});
  decide(Continue{0, 1, 1});
  EXPECT_EQ(until<CheckpointTaken>().decision, asked);
}

TEST_P(WorldContract, AWakeComesBack) {
  submit(candidate_->hanging());
  const auto asked = decide(Wake{candidate_->world().now() + Seconds{0.05}});
  EXPECT_EQ(until<Woke>().decision, asked);
  EXPECT_GE(candidate_->world().now().value, seen_.back().at.value);
}

TEST_P(WorldContract, WhatTheViewSaysIsFreeCanBeHad) {
  submit(candidate_->well_behaved());
  const Resources whole{view_.nodes[0].capacity.cores, 0, 1.0};
  start(0, 1, whole);
  until<EpochEnded>();
  // It is asked for again, so that its cores count as free, and then stopped instead.
  decide(Request{0, 0, whole});
  decide(Stop{0, 1, "not any more"});
  ASSERT_EQ(view_.nodes[0].free_cores, whole.cores);
  start(1, 1, whole);
  EXPECT_EQ(until<TaskStarted>().task, 1);
  EXPECT_EQ(count<DecisionRefused>(), 0);
}

TEST_P(WorldContract, AProgramThatCannotComputeAsItShouldFails) {
  if (candidate_->folder_of(0).empty()) GTEST_SKIP() << "nothing is run here";
  const Resources halves{.precision = Precision::bf16};
  submit(candidate_->well_behaved());
  start(0, 1, halves);
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::bad_report);
  EXPECT_NE(failed.detail.find("bf16"), std::string::npos) << failed.detail;
  spec::base_of(view_.jobs[0].spec).program = candidate_->speaker({"--precision"});
  start(1, 1, halves);
  EXPECT_EQ(until<EpochEnded>().task, 1);
}

TEST_P(WorldContract, ProgressShowsThatAProgramDoesNotHangAndNeverGoesBack) {
  if (candidate_->folder_of(0).empty()) GTEST_SKIP() << "nothing is run here";
  const auto says = [](const std::string& shares) {
    return spec::Program{"", "", {"bash", "-c", "for share in " + shares + R"(; do
        printf '{"type":"progress","share":%s}\n' $share >&"$TANDEM_SOCKET"; sleep 0.4; done
        printf '{"type":"epoch","metrics":{"value":1}}\n' >&"$TANDEM_SOCKET"; read -r answer <&"$TANDEM_SOCKET")"}};
  };
  submit(says("0.2 0.4 0.6 0.8"), 1, Seconds{1});
  start();
  EXPECT_EQ(until<EpochEnded>().epoch, 1) << "1.6 s of work, and 1 s without a word is too long";
  decide(Continue{0, 1, 1});
  until<TaskEnded>();
  spec::base_of(view_.jobs[0].spec).program = says("0.5 0.2");
  start(1);
  EXPECT_EQ(until<TaskFailed>().failure, Failure::bad_report);
}

TEST_P(WorldContract, ASecondAttemptGoesOnAfterTheFirst) {
  submit(candidate_->well_behaved());
  start();
  until<EpochEnded>();
  decide(Stop{0, 1, "moved"});
  until<TaskEnded>();
  start(0, 2);
  EXPECT_EQ(until<EpochEnded>().epoch, 2);
  EXPECT_EQ(view_.tasks[0].epochs.size(), 2u);
}

// ---- gangs: worlds of two nodes or more ----

class GangContract : public WorldContract {
 protected:
  DecisionId start_gang(Attempt attempt = 1, Resources granted = {}) {
    Request request{0, 0, granted};
    request.nodes = 2;
    decide(request);
    return decide(Start{0, attempt, 0, granted, 0, {1}});
  }
  void expect_both_free() const {
    for (const NodeId node : {0, 1})
      EXPECT_EQ(view_.nodes[static_cast<std::size_t>(node)].free_cores,
                view_.nodes[static_cast<std::size_t>(node)].capacity.cores);
  }
};

TEST_P(GangContract, RankZeroReportsAndAllHaveEndedWhenTheTaskHas) {
  submit(candidate_->well_behaved());
  start_gang();
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    EXPECT_EQ(until<EpochEnded>().epoch, epoch);
    decide(Continue{0, 1, epoch});
  }
  until<TaskEnded>();
  EXPECT_EQ(count<TaskStarted>(), 1);
  EXPECT_EQ(count<EpochEnded>(), 3);
  EXPECT_TRUE(view_.open.empty());
  expect_both_free();
}

TEST_P(GangContract, EveryRankIsToldWhoItIsAndWhereTheyMeet) {
  if (candidate_->folder_of(0).empty()) GTEST_SKIP() << "nothing is run here";
  submit(candidate_->well_behaved(), 1);
  start_gang();
  until<EpochEnded>();
  decide(Continue{0, 1, 1});
  until<TaskEnded>();
  std::ifstream in(candidate_->folder_of(0) / "rank-1");
  std::string rank, ours, size, local, master, port, node;
  in >> rank >> ours >> size >> local >> master >> port >> node;
  EXPECT_EQ(rank, "1");
  EXPECT_EQ(ours, "2");
  EXPECT_EQ(size, "2");
  EXPECT_EQ(local, "0");
  EXPECT_FALSE(master.empty());
  EXPECT_GT(std::atoi(port.c_str()), 0);
  EXPECT_EQ(node, view_.nodes[1].name);
}

TEST_P(GangContract, AGangHasItsPartOfEachNodeOrOfNone) {
  submit(candidate_->hanging());
  const Resources whole{view_.nodes[1].capacity.cores, 0, 1.0};
  decide(Request{0, 0, whole});
  decide(Start{0, 1, 1, whole});
  until<TaskStarted>();
  Request request{1, 0, {1, 0, 1.0}};
  request.nodes = 2;
  decide(request);
  const auto second = decide(Start{1, 1, 0, {1, 0, 1.0}, 0, {1}});
  EXPECT_EQ(until<DecisionRefused>().decision, second);
  EXPECT_EQ(view_.nodes[0].free_cores, view_.nodes[0].capacity.cores);
  decide(Request{2, 0, {1, 0, 1.0}});
  decide(Start{2, 1, 0, {view_.nodes[0].capacity.cores, 0, 1.0}});
  EXPECT_EQ(until<TaskStarted>().task, 2) << "nothing of node 0 was kept";
}

TEST_P(GangContract, WhenOneRankDiesAllOfItFailsOnce) {
  submit(candidate_->losing_rank_1());
  start_gang();
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::crashed) << failed.detail;
  expect_both_free();
  for (const auto& event : candidate_->world().wait(Seconds{0.5})) {
    EXPECT_FALSE(std::holds_alternative<TaskFailed>(event.body)) << "a second time";
    EXPECT_FALSE(std::holds_alternative<TaskEnded>(event.body));
  }
}

TEST_P(GangContract, AStopEndsAllOfItAndTheNextAttemptGoesOn) {
  submit(candidate_->well_behaved(), 2);
  start_gang();
  until<EpochEnded>();
  decide(Stop{0, 1, "moved"});
  until<TaskEnded>();
  expect_both_free();
  start_gang(2);
  EXPECT_EQ(until<EpochEnded>().epoch, 2);
  decide(Continue{0, 2, 2});
  until<TaskEnded>();
  EXPECT_EQ(count<TaskFailed>(), 0);
}

constexpr std::array kNames{"Local", "Simulated", "Slurm", "SlurmPilots"};
INSTANTIATE_TEST_SUITE_P(Worlds, WorldContract,
                         testing::Values(&make_local, &make_simulated, &make_slurm, &make_slurm_pilots),
                         [](const auto& of) { return std::string(kNames.at(of.index)); });
constexpr std::array kGangNames{"Local", "Simulated", "Slurm"};
INSTANTIATE_TEST_SUITE_P(Worlds, GangContract,
                         testing::Values(&make_two_local, &make_two_simulated, &make_slurm),
                         [](const auto& of) { return std::string(kGangNames.at(of.index)); });

}  // namespace
}  // namespace tandem
