// What the simulated world does beyond the contract every world keeps (tests/contract).
#include "sim/world/world.h"

#include "base/error.h"
#include "base/random.h"
#include "sim/world/world_testing.h"

namespace tandem::sim {
namespace {

using SimWorld = ByHand;

TEST_F(SimWorld, TimeIsVirtualAndNeverPassesWhatWaitMay) {
  open({.nodes = {nodes_like(1)}, .start = Seconds{1000}});
  submit({"speaker", "--sleep-ms", "86400000"}, 1, Seconds{1e9});
  start(0);
  wait(Seconds{1});
  EXPECT_EQ(world_->now(), Seconds{1000}) << "what is pending comes at once";
  EXPECT_EQ(count<TaskStarted>(), 1);
  wait(Seconds{1});
  EXPECT_EQ(world_->now(), Seconds{1001});
  EXPECT_NEAR(until<EpochEnded>().seconds.value, 86400.01, 1e-9);
  EXPECT_NEAR(world_->now().value, 1000 + 86400.01, 1e-9);
}

TEST_F(SimWorld, TheFirstReportTellsTheStartUpAndLaterOnesDoNot) {
  open({.nodes = {nodes_like(1)}});
  submit({"speaker", "--startup-ms", "500", "--sleep-ms", "2000"});
  start(0);
  const auto first = until<EpochEnded>();
  EXPECT_DOUBLE_EQ(first.seconds.value, 2.5);
  EXPECT_DOUBLE_EQ(first.startup.value, 0.5);
  wait(Seconds{100});  // nobody answers; that is not the program's time
  decide(Continue{0, 1, 1});
  const auto second = until<EpochEnded>();
  EXPECT_NEAR(second.seconds.value, 2, 1e-9);
  EXPECT_EQ(second.startup, Seconds{});
}

// Ten seconds of work that cores share.
struct Shared final : Programs {
  ProgramStart start(const ProgramRun&) override { return {}; }
  ProgramEpoch epoch(const ProgramRun& run, std::int64_t, bool) override {
    return {.seconds = {10.0 / run.granted.cores / run.granted.speed}};
  }
};

TEST_F(SimWorld, AResizeInTheMiddleChangesThePaceOfTheRest) {
  Shared shared;
  programs_ = &shared;
  open({.nodes = {nodes_like(1)}});
  submit({"any"}, 1);
  start(0, 1, {1, 0, 1.0});
  until<TaskStarted>();
  wait(Seconds{5});
  decide(Resize{0, 1, {4, 0, 1.0}});
  EXPECT_EQ(until<SystemChanged>().granted.cores, 4);
  wait(Seconds{0.5});
  decide(Resize{0, 1, {2, 0, 0.5}});
  EXPECT_NEAR(until<EpochEnded>().seconds.value, 5 + 0.5 + 0.3 * 10, 1e-9);
}

TEST_F(SimWorld, OfTheCoresOfManyNodesNoneIsGrantedTwice) {
  open({.nodes = {nodes_like(2, 4), nodes_like(1, 8)}});
  submit({"speaker", "--hang-at", "1"});
  EXPECT_EQ(view_.nodes[2].capacity.cores, 8);
  EXPECT_EQ(view_.nodes[1].name, "n-1");
  start(0, 1, {4, 0, 1.0}, 1);
  start(1, 1, {8, 0, 1.0}, 2);
  start(2, 1, {3, kGiB, 1.0}, 0);
  wait();
  EXPECT_EQ(count<TaskStarted>(), 3);
  const std::vector<std::pair<NodeId, Resources>> too_much{
      {1, {1, 0, 1.0}}, {2, {1, 0, 1.0}}, {0, {2, 0, 1.0}}, {0, {1, 16 * kGiB, 1.0}}, {0, {0, 0, 1.0}}};
  for (const auto& [node, granted] : too_much) {
    const auto refused = start(static_cast<TaskId>(view_.tasks.size()), 1, granted, node);
    EXPECT_EQ(until<DecisionRefused>().decision, refused);
  }
  EXPECT_EQ(count<TaskStarted>(), 3);
}

TEST_F(SimWorld, ProgramsFailTheWaysRealOnesDo) {
  const std::vector<std::pair<std::vector<std::string>, Failure>> cases{
      {{"speaker", "--crash-at", "2"}, Failure::crashed},
      {{"speaker", "--kill-at", "2"}, Failure::killed},
      {{"speaker", "--nan-at", "2"}, Failure::bad_report},
      {{"speaker", "--hang-at", "2"}, Failure::stalled},
      {{"speaker", "--sleep-ms", "700000"}, Failure::stalled},
      {{"speaker", "--startup-ms", "700000"}, Failure::stalled},
      {{"speaker", "--silent"}, Failure::silent},
      {{"speaker", "--eat", "2000000000"}, Failure::out_of_memory},
      {{"no-such-program"}, Failure::could_not_start}};
  open({.nodes = {nodes_like(1)}});
  for (const auto& [command, failure] : cases) {
    SCOPED_TRACE(command.back());
    const auto id = static_cast<TaskId>(view_.tasks.size());
    if (view_.jobs.empty()) submit(command);
    spec::base_of(view_.jobs[0].spec).program.command = command;
    start(id, 1, {1, kGiB, 1.0});
    run_to_its_end(id);
    ASSERT_TRUE(task(id).last_failure);
    EXPECT_EQ(task(id).last_failure->failure, failure) << task(id).last_failure->detail;
    EXPECT_EQ(view_.nodes[0].free_cores, 4);
    EXPECT_EQ(view_.nodes[0].free_memory, 16 * kGiB);
  }
  EXPECT_EQ(count<TaskStarted>(), static_cast<int>(cases.size()));
}

TEST_F(SimWorld, EndingEarlyIsAllowed) {
  open({.nodes = {nodes_like(1)}});
  submit({"speaker", "--exit-at", "2"});
  start(0);
  run_to_its_end(0);
  EXPECT_EQ(task().state, TaskState::ended);
  EXPECT_EQ(task().reported(), 1);
}

TEST_F(SimWorld, WithoutCheckpointsAProgramStartsOverAndNoneIsTaken) {
  open({.nodes = {nodes_like(1)}});
  submit({"speaker", "--no-checkpoints"});
  start(0);
  until<EpochEnded>();
  const auto asked = decide(TakeCheckpoint{0, 1});
  EXPECT_EQ(until<DecisionRefused>().decision, asked);
  decide(Stop{0, 1, "moved"});
  until<TaskEnded>();
  start(0, 2);
  EXPECT_EQ(until<EpochEnded>().epoch, 1);
}

TEST_F(SimWorld, ACheckpointIsTakenEvenByATaskThatIsToldToStopWhileItWaits) {
  open({.nodes = {nodes_like(1)}});
  submit({"speaker"});
  start(0);
  until<EpochEnded>();
  const auto asked = decide(TakeCheckpoint{0, 1});
  const auto again = decide(TakeCheckpoint{0, 1});
  EXPECT_EQ(until<DecisionRefused>().decision, again);
  decide(Stop{0, 1, "enough"});
  EXPECT_EQ(until<CheckpointTaken>().decision, asked);
  until<TaskEnded>();
  EXPECT_TRUE(view_.open.empty());
}

TEST_F(SimWorld, ACloneOfAProgramThatKeepsNoCheckpointsCannotStart) {
  open({.nodes = {nodes_like(1)}});
  submit({"speaker", "--no-checkpoints"});
  Request request;
  request.trial = TrialPart{.hyper = {}, .epochs = 5, .clone_from = 0, .clone_epoch = 2};
  decide(request);
  decide(Start{0, 1, 0, {}});
  EXPECT_EQ(until<TaskFailed>().failure, Failure::could_not_start);

  spec::base_of(view_.jobs[0].spec).program.command = {"speaker"};
  request.task = 1;
  decide(request);
  decide(Start{1, 1, 0, {}});
  EXPECT_EQ(until<EpochEnded>().epoch, 3);
}

TEST_F(SimWorld, AWorldInWhichNothingWillHappenSaysSo) {
  open({.nodes = {nodes_like(1)}, .failures = Failures::drawn(Seconds{100}, Seconds{10}, 1)});
  EXPECT_TRUE(world_->wait(kHoweverLong).empty()) << "nobody is there to see a node fail";
  EXPECT_THROW(
      {
        for (int i = 0; i < 2000; ++i) world_->wait(Seconds{1});
      },
      SystemError);
}

TEST_F(SimWorld, ImpossibleClustersAreErrors) {
  EXPECT_THROW(World({}, speaker_), UserError);
  EXPECT_THROW(World({.nodes = {nodes_like(0)}}, speaker_), UserError);
  EXPECT_THROW(World({.nodes = {nodes_like(1, 0)}}, speaker_), UserError);
  const auto elsewhere = Failures::listed({{2, Seconds{1}, Seconds{2}}});
  EXPECT_THROW(World({.nodes = {nodes_like(2)}, .failures = elsewhere}, speaker_), UserError);
}

// ---- nodes that fail ----

TEST_F(SimWorld, ANodeThatFailsTakesItsTasksAlongAndComesBack) {
  open({.nodes = {nodes_like(2)}, .failures = Failures::listed({{1, Seconds{10}, Seconds{30}}})});
  submit({"speaker", "--sleep-ms", "4000"}, 5);
  start(0, 1, {2, kGiB, 1.0}, 1);
  start(1, 1, {2, kGiB, 1.0}, 0);
  for (int i = 0; i < 4; ++i) {
    const auto report = until<EpochEnded>();
    decide(Continue{report.task, report.attempt, report.epoch});
  }
  const auto gone = until<NodeJoined>();
  EXPECT_EQ(gone.node, 1);
  EXPECT_EQ(gone.capacity.cores, 0);
  EXPECT_DOUBLE_EQ(world_->now().value, 10);
  const auto lost = until<TaskFailed>();
  EXPECT_EQ(lost.task, 0);
  EXPECT_EQ(lost.failure, Failure::lost);
  EXPECT_EQ(view_.nodes[1].free_cores, 0);
  EXPECT_EQ(view_.nodes[1].free_memory, 0);

  const auto refused = start(2, 1, {1, 0, 1.0}, 1);
  EXPECT_EQ(until<DecisionRefused>().decision, refused);
  start(0, 2, {2, kGiB, 1.0}, 0);
  EXPECT_EQ(until<TaskStarted>().task, 0);
  const auto next = [&] {
    while (true)
      if (const auto report = until<EpochEnded>(); report.task == 0) return report;
  }();
  EXPECT_EQ(next.epoch, 3) << "it goes on after its last report, on another node";

  const auto back = until<NodeJoined>();
  EXPECT_EQ(back.capacity.cores, 4);
  EXPECT_DOUBLE_EQ(world_->now().value, 30);
  EXPECT_EQ(view_.nodes[1].free_cores, 4);
  EXPECT_EQ(view_.nodes[1].free_memory, 16 * kGiB);
  start(3, 1, {4, 0, 1.0}, 1);
  EXPECT_EQ(until<TaskStarted>().task, 3);
}

TEST_F(SimWorld, NewsOfANodeComesAloneAndOneThatWasToldToStopHasEnded) {
  open({.nodes = {nodes_like(1)}, .failures = Failures::listed({{0, Seconds{1.01}, kHoweverLong}})});
  submit({"speaker", "--sleep-ms", "1000"});
  start(0);
  start(1, 1, {});
  until<TaskStarted>();
  wait(Seconds{1.0095});
  decide(Stop{1, 1, "enough"});
  wait();
  ASSERT_EQ(count<NodeJoined>(), 1);
  EXPECT_EQ(count<EpochEnded>(), 0) << "the node was gone before the report of the same moment";
  EXPECT_EQ(task(0).state, TaskState::failed);
  EXPECT_EQ(task(1).state, TaskState::ended);
  EXPECT_TRUE(view_.holding.empty());
  EXPECT_TRUE(world_->wait(kHoweverLong).empty()) << "it does not come back";
}

// ---- gangs ----

TEST_F(SimWorld, AGangIsAskedOnceAndItsNodesShareTheWork) {
  CurvePrograms curve({.samples = 100, .seconds_a_sample = 1, .seconds_a_batch = 0, .startup = 0});
  programs_ = &curve;
  auto group = nodes_like(3);
  group.power = PowerModel{Watts{80}, Watts{240}, {}};
  open({.nodes = {group}});
  submit({"any"}, 1);
  start_gang(0, 2, {0}, {4, 0, 1.0});
  const auto report = until<EpochEnded>();
  EXPECT_NEAR(report.seconds.value, 100.0 / 8, 1e-9);
  ASSERT_TRUE(report.energy);
  EXPECT_NEAR(report.energy->joules.value, 2 * 240 * 100.0 / 8, 1e-6) << "of both its nodes";
  start(1, 1, {4, 0, 1.0}, 2);
  EXPECT_EQ(view_.tasks[1].state, TaskState::starting);
  EXPECT_EQ(count<EpochEnded>(), 1);
  until<DecisionRefused>();
}

TEST_F(SimWorld, WithOneOfItsNodesAGangIsLostWholeAndOthersStay) {
  open({.nodes = {nodes_like(3)}, .failures = Failures::listed({{1, Seconds{5}, Seconds{30}}})});
  submit({"speaker", "--sleep-ms", "2000"}, 100);
  start_gang(0, 0, {1}, {4, 0, 1.0});
  start(1, 1, {4, 0, 1.0}, 2);
  const auto lost = until<TaskFailed>();
  EXPECT_EQ(lost.task, 0);
  EXPECT_EQ(lost.failure, Failure::lost);
  EXPECT_EQ(view_.nodes[0].free_cores, 4);
  EXPECT_TRUE(task(1).alive);
  start(2, 1, {4, 0, 1.0}, 0);
  EXPECT_EQ(until<TaskStarted>().task, 2) << "its other node is free at once";
  EXPECT_EQ(count<TaskFailed>(), 1);
}

TEST_F(SimWorld, AGangThatNamesANodeTwiceIsRefused) {
  open({.nodes = {nodes_like(2)}});
  submit({"speaker"});
  start_gang(0, 1, {1});
  EXPECT_NE(until<DecisionRefused>().reason.find("twice"), std::string::npos);
}

// ---- energy ----

// Seeded mischief on three nodes: tasks start, are resized, held, stopped and lost; every joule is accounted
// for.
TEST_F(SimWorld, JoulesOfAllTasksAndIdleNodesAreTheIntegralOfPower) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    view_ = {};
    seen_.clear();
    looked_at_ = 0;
    auto group = nodes_like(3);
    group.power = PowerModel{Watts{80}, Watts{240}, {{0.5, Watts{120}}}};
    CurvePrograms curves({.samples = 1000, .seconds_a_sample = 0.01, .seconds_a_batch = 0.05, .spread = 0.2});
    programs_ = &curves;
    open({.nodes = {group}, .failures = Failures::drawn(Seconds{60}, Seconds{5}, seed)});
    submit({"any"}, 1000);
    for (int step = 0; step < 400; ++step) {
      const double what = random.uniform();
      const auto node = static_cast<NodeId>(random.below(3));
      const Resources some{1 + static_cast<int>(random.below(3)), 0, random.uniform() < 0.5 ? 0.5 : 1.0};
      const auto tasks = static_cast<TaskId>(view_.tasks.size());
      if (what < 0.3 || tasks == 0) {
        start(tasks, 1, some, node);
      } else if (const auto id = static_cast<TaskId>(random.below(view_.tasks.size())); task(id).alive) {
        if (what < 0.45) decide(Resize{id, 1, some});
        if (what > 0.45 && what < 0.55) decide(Hold{id, 1});
        if (what > 0.55 && what < 0.65) decide(Stop{id, 1, "enough"});
        if (what > 0.65) decide(Continue{id, 1, task(id).reported()});
      }
      wait(Seconds{random.exponential(1)});
    }
    double paid = 0;
    for (const auto& event : seen_)
      std::visit(
          [&](const auto& e) {
            if constexpr (requires { e.energy; })
              if (e.energy) paid += e.energy->joules.value;
          },
          event.body);
    for (const auto& one : view_.tasks)
      if (one.alive) decide(Stop{one.id, 1, "over"});
    while (!view_.holding.empty()) {
      const std::size_t before = seen_.size();
      wait();
      for (std::size_t i = before; i < seen_.size(); ++i) {
        if (const auto* ended = std::get_if<TaskEnded>(&seen_[i].body)) paid += ended->energy->joules.value;
        if (const auto* failed = std::get_if<TaskFailed>(&seen_[i].body))
          paid += failed->energy->joules.value;
      }
    }
    lost += count<TaskFailed>();
    const double all = world_->joules().value;
    EXPECT_NEAR(paid + world_->unclaimed().value, all, 1e-9 * all) << seed;
  }
  EXPECT_GT(lost, 0);
}

TEST_F(SimWorld, EnergyNamesItsSourceAndIsNotThereWhereNothingTells) {
  auto group = nodes_like(1);
  group.power = PowerModel{Watts{80}, Watts{240}, {}};
  open({.nodes = {group, nodes_like(1)}});
  submit({"speaker", "--startup-ms", "0", "--sleep-ms", "1000"});
  start(0, 1, {2, 0, 1.0}, 0);
  start(1, 1, {2, 0, 1.0}, 1);
  const auto known = until<EpochEnded>(), unknown = until<EpochEnded>();
  ASSERT_TRUE(known.energy);
  EXPECT_EQ(known.energy->source, "simulated (idle 80 W, busy 240 W)");
  EXPECT_NEAR(known.energy->joules.value, 80 + 80, 1e-9) << "half its cores, and all of its idle power";
  EXPECT_FALSE(unknown.energy);
}

TEST_F(SimWorld, EqualRunsAreEqual) {
  const auto run = [&] {
    view_ = {};
    seen_.clear();
    looked_at_ = 0;
    CurvePrograms curves({.samples = 100, .seconds_a_sample = 0.1, .spread = 0.5, .seed = 3});
    FaultyPrograms faulty(curves, {.crash = 0.05, .kill = 0.05, .hang = 0.02, .seed = 3});
    programs_ = &faulty;
    open({.nodes = {nodes_like(4)}, .failures = Failures::drawn(Seconds{100}, Seconds{5}, 3)});
    submit({"any"}, 5, Seconds{50});
    for (TaskId id = 0; id < 12; ++id) start(id, 1, {1, 0, 1.0}, id % 4);
    for (TaskId id = 0; id < 12; ++id) run_to_its_end(id);
    return seen_;
  };
  const auto first = run();
  EXPECT_EQ(first, run());
  EXPECT_GT(count<TaskFailed>(), 0);
}

}  // namespace
}  // namespace tandem::sim
