// What every world must do (DESIGN section 1). A new world adds a factory at the end and passes unchanged.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "control/ports.h"
#include "platform/temporary.h"
#include "runtime/local/world.h"
#include "runtime/slurm/cluster_testing.h"
#include "runtime/slurm/world.h"
#include "sim/programs_testing.h"
#include "sim/world.h"

namespace tandem {
namespace {

// A world under test, and how to say in it "a program that does this".
struct Candidate {
  virtual ~Candidate() = default;
  virtual std::string missing() { return ""; }  // why it cannot be tested here
  virtual control::World& world() = 0;
  virtual spec::Program well_behaved() = 0;   // reports each epoch, keeps checkpoints
  virtual spec::Program hanging() = 0;        // starts, never reports
  virtual spec::Program losing_rank_1() = 0;  // as a gang: its rank 1 dies
  // What the program of a task wrote; empty where nothing is run.
  virtual std::filesystem::path folder_of(TaskId) { return {}; }
};

using Factory = std::unique_ptr<Candidate> (*)();

class WorldContract : public testing::TestWithParam<Factory> {
 protected:
  WorldContract() : candidate_(GetParam()()) {
    if (!candidate_->missing().empty()) return;
    for (const auto& node : candidate_->world().nodes()) view_.apply(Event{Seconds{1}, node});
  }
  void SetUp() override {
    if (const auto why = candidate_->missing(); !why.empty()) GTEST_SKIP() << why;
  }
  void submit(spec::Program program, std::int64_t epochs = 3, Seconds stall = Seconds{60}) {
    spec::TrainJob job;
    job.program = std::move(program);
    job.epochs = epochs;
    job.limits.stall = stall;
    view_.apply(Event{Seconds{1}, JobSubmitted{static_cast<JobId>(view_.jobs.size()), job}});
  }
  DecisionId decide(DecisionBody body) {
    const Decision decision{view_.next_decision, std::move(body)};
    view_.apply(decision);
    candidate_->world().carry_out(decision, view_);
    return decision.id;
  }
  void start(TaskId task = 0, Attempt attempt = 1, Resources granted = {}) {
    decide(Request{task, 0, granted});
    decide(Start{task, attempt, 0, granted});
  }
  // All events until one of this kind came.
  template <class Kind>
  Kind until() {
    for (int rounds = 0; rounds < 600; ++rounds)
      for (auto& event : candidate_->world().wait(Seconds{0.1})) {
        view_.apply(event);
        seen_.push_back(event);
        if (const auto* found = std::get_if<Kind>(&event.body)) return *found;
      }
    ADD_FAILURE() << "waited a minute for nothing";
    return {};
  }
  template <class Kind>
  int count() const {
    int n = 0;
    for (const auto& event : seen_) n += std::holds_alternative<Kind>(event.body);
    return n;
  }

  std::unique_ptr<Candidate> candidate_;
  View view_;
  std::vector<Event> seen_;
};

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

  view_.jobs[0].spec.program = candidate_->hanging();
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

// ---- worlds ----

struct LocalCandidate final : Candidate {
  explicit LocalCandidate(std::vector<local::LocalNode> nodes = {})
      : world_({.run = "contract-" + std::to_string(::getpid()),
                .folder = folder_.path(),
                .grace = Seconds{0.2},
                .nodes = std::move(nodes)}) {}
  control::World& world() override { return world_; }
  spec::Program losing_rank_1() override {
    return {"", "", {SPEAKER, "--hang-at", "1", "--crash-rank", "1"}};
  }
  std::filesystem::path folder_of(TaskId task) override {
    return folder_.path() / ("task-" + std::to_string(task));
  }
  spec::Program well_behaved() override { return {"", "", {SPEAKER}}; }
  spec::Program hanging() override { return {"", "", {SPEAKER, "--hang-at", "1"}}; }

  platform::TemporaryFolder folder_;
  local::LocalWorld world_;
};

std::unique_ptr<Candidate> make_local() {
  return std::make_unique<LocalCandidate>();
}

// This machine as two nodes, which share its CPUs where there are too few.
std::unique_ptr<Candidate> make_two_local() {
  const auto cpus = platform::Topology::detect().cpus;
  return std::make_unique<LocalCandidate>(std::vector<local::LocalNode>{
      {"a", "half", {cpus.front().id}, kGiB}, {"b", "half", {cpus.back().id}, kGiB}});
}

// The same program, simulated.
struct SimulatedCandidate final : Candidate {
  explicit SimulatedCandidate(int nodes = 1) : world_({.nodes = {alike(nodes)}}, programs_) {}
  static sim::NodeGroup alike(int nodes) {
    return {.name = "simulated", .capacity = {4, 16 * kGiB, 1.0}, .count = nodes};
  }
  spec::Program losing_rank_1() override { return {"", "", {"speaker", "--crash-at", "1"}}; }
  control::World& world() override { return world_; }
  spec::Program well_behaved() override { return {"", "", {"speaker"}}; }
  spec::Program hanging() override { return {"", "", {"speaker", "--hang-at", "1"}}; }

  sim::Speaker programs_;
  sim::World world_;
};

std::unique_ptr<Candidate> make_simulated() {
  return std::make_unique<SimulatedCandidate>();
}

std::unique_ptr<Candidate> make_two_simulated() {
  return std::make_unique<SimulatedCandidate>(2);
}

// The same program again, as jobs of a real Slurm on loopback.
struct SlurmCandidate final : Candidate {
  explicit SlurmCandidate(slurm::Pilots pilots) {
    if (!missing().empty()) return;
    slurm::SlurmOptions options;
    static int runs = 0;
    options.run = "contract-" + std::to_string(::getpid()) + "-" + std::to_string(++runs);
    options.folder = folder_.path();
    options.agent = SLURM_AGENT;
    options.grace = Seconds{0.5};
    options.poll = Seconds{0.3};
    options.pilots = pilots;
    world_ = std::make_unique<slurm::SlurmWorld>(options);
  }
  std::string missing() override { return slurm::TestCluster::instance().missing(); }
  control::World& world() override { return *world_; }
  spec::Program losing_rank_1() override {
    return {"", "", {SPEAKER, "--hang-at", "1", "--crash-rank", "1"}};
  }
  std::filesystem::path folder_of(TaskId task) override {
    return folder_.path() / ("task-" + std::to_string(task));
  }
  spec::Program well_behaved() override { return {"", "", {SPEAKER}}; }
  spec::Program hanging() override { return {"", "", {SPEAKER, "--hang-at", "1"}}; }

  platform::TemporaryFolder folder_;
  std::unique_ptr<slurm::SlurmWorld> world_;
};

std::unique_ptr<Candidate> make_slurm() {
  return std::make_unique<SlurmCandidate>(slurm::Pilots::never);
}

std::unique_ptr<Candidate> make_slurm_pilots() {
  return std::make_unique<SlurmCandidate>(slurm::Pilots::always);
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
