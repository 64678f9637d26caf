// The Slurm world on a real cluster (tests/slurm/cluster.py): what others do to its jobs, nodes and
// controllers that fail, moves, and what a crash leaves. What every world must do is in tests/contract.
#include "runtime/slurm/world.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "control/loop.h"
#include "control/memory_journal.h"
#include "place/engine/scheduler.h"
#include "platform/temporary.h"
#include "runtime/slurm/agent.h"
#include "runtime/slurm/cluster_testing.h"
#include "tune/train.h"

namespace tandem::slurm {
namespace {

class SlurmWorldTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto& why = TestCluster::instance().missing(); !why.empty()) GTEST_SKIP() << why;
    static int runs = 0;
    options_.run = "slurm-test-" + std::to_string(::getpid()) + "-" + std::to_string(++runs);
    options_.folder = folder_.path();
    options_.agent = SLURM_AGENT;
    options_.grace = Seconds{0.5};
    options_.poll = Seconds{0.3};
    options_.life.record_grace = Seconds{1};
    options_.life.fence = Seconds{3};
    job_.epochs = 3;
  }
  void begin(std::vector<std::string> arguments, Resources granted = {1, 0, 1.0}) {
    arguments.insert(arguments.begin(), SPEAKER);
    begin_command(std::move(arguments), granted);
  }
  void begin_command(std::vector<std::string> command, Resources granted = {1, 0, 1.0}) {
    job_.program.command = std::move(command);
    world_ = std::make_unique<SlurmWorld>(options_);
    for (const auto& node : world_->nodes()) view_.apply(Event{Seconds{1}, node});
    view_.apply(Event{Seconds{1}, JobSubmitted{0, job_}});
    start(0, granted);
  }
  void start(TaskId task, Resources granted = {1, 0, 1.0}) {
    decide(Request{task, 0, granted});
    decide(Start{task, 1, 0, granted});
  }
  DecisionId decide(DecisionBody body) {
    const Decision decision{view_.next_decision, std::move(body)};
    view_.apply(decision);
    world_->carry_out(decision, view_);
    return decision.id;
  }
  // Events until one of this kind, which is returned.
  template <class Kind>
  Kind until(double seconds = 60) {
    const double end = world_->now().value + seconds;
    while (world_->now().value < end)
      for (const auto& event : world_->wait(Seconds{0.5})) {
        view_.apply(event);
        seen_.push_back(event);
        if (const auto* found = std::get_if<Kind>(&event.body)) return *found;
      }
    std::string seen;
    for (const auto& event : seen_) seen += std::string(" ") + name(event.body);
    for (const auto& job : jobs()) seen += "; " + job.comment + " " + job.state + " " + job.reason;
    ADD_FAILURE() << "waited " << seconds << " s for nothing; seen:" << seen;
    return {};
  }
  template <class Kind>
  int count() const {
    int n = 0;
    for (const auto& event : seen_) n += std::holds_alternative<Kind>(event.body);
    return n;
  }
  int tickets() const {
    int n = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path() / "slurm"))
      n += file.path().string().ends_with(".ticket.json");
    return n;
  }
  std::vector<QueuedJob> jobs() {
    std::vector<QueuedJob> ours;
    Commands commands;
    for (const auto& job : parse_squeue(commands.run_and_wait(squeue(), Seconds{30}).output).jobs)
      if (const auto mark = parse_mark(job.comment); mark && mark->run == options_.run) ours.push_back(job);
    return ours;
  }

  static std::string shown(SlurmJobId job) {
    const std::vector<std::string> command{"scontrol", "show", "job", std::to_string(job)};
    return Commands().run_and_wait(command, Seconds{30}).output;
  }

  platform::TemporaryFolder folder_;
  SlurmOptions options_;
  spec::TrainJob job_;
  View view_;
  std::vector<Event> seen_;
  std::unique_ptr<SlurmWorld> world_;
};

TEST_F(SlurmWorldTest, AWholeJobRunsUnderTheLoop) {
  job_.program.command = {SPEAKER, "--say", "hello"};
  world_ = std::make_unique<SlurmWorld>(options_);
  control::MemoryJournal journal;
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::make_unique<tune::TrainController>());
  policies.push_back(std::make_unique<place::Scheduler>(place::parse_policy("fifo:malleable"), 1));
  control::Loop loop({*world_, journal, nullptr, nullptr}, std::move(policies));
  loop.open();
  loop.submit(job_);
  loop.run({});
  EXPECT_EQ(loop.view().jobs[0].state, JobState::finished) << loop.view().jobs[0].reason;
  EXPECT_EQ(loop.view().tasks[0].reported(), 3);
  EXPECT_EQ(loop.view().nodes.size(), 3u);
  std::ifstream out(folder_.path() / "output-0.log");
  std::string line;
  std::getline(out, line);
  EXPECT_EQ(line, "hello");
}

TEST_F(SlurmWorldTest, AProgramThatDoesNotExistOnTheNode) {
  begin({});
  until<EpochEnded>();
  decide(Stop{0, 1, "enough"});
  until<TaskEnded>();
  spec::base_of(view_.jobs[0].spec).program.command = {"no-such-program-anywhere"};
  start(1);
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::could_not_start);
  EXPECT_NE(failed.detail.find("no-such-program-anywhere"), std::string::npos) << failed.detail;
}

// No machine of ours gathers energy through Slurm: a program called sstat that counts what it was asked.
class SlurmEnergyTest : public SlurmWorldTest {
 protected:
  void SetUp() override {
    SlurmWorldTest::SetUp();
    if (IsSkipped()) return;
    const auto sstat = folder_.path() / "sstat";
    std::ofstream(sstat) << "#!/bin/sh\necho 100 >> " << (folder_.path() / "asked").string()
                         << "\necho $(($(wc -l < " << (folder_.path() / "asked").string() << ") * 100))\n";
    std::filesystem::permissions(sstat, std::filesystem::perms::owner_all);
    before_ = ::getenv("PATH");
    ::setenv("PATH", (folder_.path().string() + ":" + before_).c_str(), 1);
  }
  void TearDown() override {
    world_.reset();
    if (!before_.empty()) ::setenv("PATH", before_.c_str(), 1);
  }
  std::string before_;
};

TEST_F(SlurmEnergyTest, WhatSlurmMeasuredOfANodeIsTheTasksThatHasItToItself) {
  begin({}, {4, 0, 1.0});
  const auto first = until<EpochEnded>();
  ASSERT_TRUE(first.energy);
  EXPECT_EQ(first.energy->source, "slurm");
  EXPECT_EQ(first.energy->joules.value, 200) << "asked at its hello and at its report";
  decide(Continue{0, 1, 1});
  EXPECT_EQ(until<EpochEnded>().energy->joules.value, 100);
  decide(Stop{0, 1, "enough"});
  EXPECT_EQ(until<TaskEnded>().energy->joules.value, 100) << "its tail";
  EXPECT_TRUE(view_.tasks[0].energy_complete);
  EXPECT_EQ(view_.tasks[0].joules().value, 400);
}

TEST_F(SlurmEnergyTest, BesideOthersItIsNobodys) {
  begin({}, {1, 0, 1.0});
  EXPECT_EQ(until<EpochEnded>().energy, std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "asked"));
}

TEST_F(SlurmWorldTest, APlainCommandIsItsExitStatus) {
  job_.epochs = 0;
  job_.limits.stall = Seconds{0.01};  // it does not report, and is not expected to
  begin_command({"/bin/sh", "-c", "sleep 0.2; exit $((TANDEM_ATTEMPT - 1))"});
  EXPECT_EQ(until<TaskEnded>().task, 0);
  decide(Request{0, 0, {1, 0, 1.0}});
  decide(Start{0, 2, 0, {1, 0, 1.0}});
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::crashed);
  EXPECT_EQ(failed.detail, "exit status 1");
}

TEST_F(SlurmWorldTest, AJobGetsExactlyWhatWasGranted) {
  options_.site = {.partition = "short",
                   .account = "physics",
                   .gres = "gpu:1",
                   .time = Seconds{60},
                   .full_clock = 2'000'000};
  begin({"--hang-at", "1"}, {2, 300 * kMiB, 0.5});
  until<TaskStarted>();
  const auto job = shown(jobs().at(0).id);
  for (const char* part : {"NumCPUs=2", "MinMemoryNode=300M", "TresPerNode=gres:gpu:1", "Partition=short",
                           "Account=physics", "TimeLimit=00:01:00", "Requeue=0", "ReqNodeList=n0"})
    EXPECT_NE(job.find(part), std::string::npos) << part << " in " << job;
}

TEST_F(SlurmWorldTest, AProgramThatCrashesLeavesItsLastWords) {
  begin({"--crash-at", "1"});
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::crashed);
  EXPECT_EQ(failed.detail, "exit status 7");
  EXPECT_EQ(failed.last_output, "speaker: something broke");
}

TEST_F(SlurmWorldTest, WhatSlurmDoesNotTakeIsRefusedWithItsReason) {
  options_.site.constraint = "nosuchfeature";
  begin({});
  const auto refused = until<DecisionRefused>();
  EXPECT_NE(refused.reason.find("feature"), std::string::npos) << refused.reason;
  EXPECT_EQ(view_.nodes[0].free_cores, view_.nodes[0].capacity.cores);
}

TEST_F(SlurmWorldTest, APersonCancelsTheJob) {
  begin({"--hang-at", "1"});
  until<TaskStarted>();
  Commands().run_and_wait(scancel({jobs().at(0).id}), Seconds{30});
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::killed);
  EXPECT_NE(failed.detail.find("Slurm"), std::string::npos) << failed.detail;
}

TEST_F(SlurmWorldTest, AStopBeforeItBeganEndsIt) {
  begin({"--hang-at", "1"}, {4, 0, 1.0});
  until<TaskStarted>();
  // Somebody else's job would do: this one waits behind it.
  world_->carry_out(Decision{999, Wake{world_->now()}}, view_);
  decide(Request{1, 0, {1, 0, 1.0}});
  decide(Start{1, 1, 1, {1, 0, 1.0}});
  decide(Stop{1, 1, "never mind"});
  EXPECT_EQ(until<TaskEnded>().task, 1);
}

TEST_F(SlurmWorldTest, AtTheEndOfItsTimeItGoesOnFromItsCheckpointInAnotherJob) {
  options_.life.checkpoint_before = Seconds{36000};  // it is always near
  begin({"--sleep-ms", "1500"});
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    EXPECT_EQ(until<EpochEnded>().epoch, epoch);
    decide(Continue{0, 1, epoch});
  }
  until<TaskEnded>();
  EXPECT_EQ(count<TaskStarted>(), 1) << "one attempt";
  EXPECT_EQ(count<EpochEnded>(), 3) << "nothing twice";
  EXPECT_EQ(tickets(), 3) << "three jobs";
}

TEST_F(SlurmWorldTest, AProgramWithoutCheckpointsIsNotResized) {
  begin({"--no-checkpoints", "--hang-at", "2"});
  until<EpochEnded>();
  decide(Continue{0, 1, 1});
  decide(Resize{0, 1, {2, 0, 1.0}});
  EXPECT_NE(until<DecisionRefused>().reason.find("checkpoints"), std::string::npos);
  EXPECT_EQ(view_.tasks[0].granted.cores, 1);
}

TEST_F(SlurmWorldTest, AControllerThatIsGoneForAWhileHurtsNobody) {
  begin({"--sleep-ms", "300"});
  until<EpochEnded>();
  TestCluster::instance().order("stop slurmctld");
  decide(Continue{0, 1, 1});
  EXPECT_EQ(until<EpochEnded>().epoch, 2) << "programs do not need it";
  start(1);  // sbatch cannot reach it
  decide(Continue{0, 1, 2});
  EXPECT_EQ(until<EpochEnded>().epoch, 3);
  decide(Continue{0, 1, 3});
  EXPECT_EQ(until<TaskEnded>().task, 0) << "by its record and its agent";
  TestCluster::instance().order("start slurmctld");
  EXPECT_EQ(until<TaskStarted>(120).task, 1) << "submitted again when it was back";
  EXPECT_EQ(count<DecisionRefused>(), 0);
}

TEST_F(SlurmWorldTest, WhatACrashLeftIsEndedBeforeAnythingNewStarts) {
  begin({"--hang-at", "2"});
  until<EpochEnded>();
  decide(Continue{0, 1, 1});
  // Another Tandem finds the jobs of one that is gone (this one, as far as it can tell).
  SlurmWorld next(options_);
  EXPECT_EQ(next.nodes().size(), view_.nodes.size());
  const auto events = next.reconcile(view_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<TaskFailed>(events[0].body).failure, Failure::lost);
  for (const auto& job : jobs()) EXPECT_GT(static_cast<int>(job.phase), static_cast<int>(JobPhase::running));
  EXPECT_TRUE(platform::marked_processes(text(Mark{options_.run, 0, 1, 1})).empty());
}

TEST_F(SlurmWorldTest, PilotsThatACrashLeftAreEndedWithTheirSteps) {
  options_.pilots = Pilots::always;
  begin({"--hang-at", "1"});
  until<TaskStarted>();
  SlurmWorld next(options_);
  next.nodes();
  EXPECT_EQ(next.reconcile(view_).size(), 1u);
  ASSERT_EQ(jobs().size(), 1u) << "the pilot's";
  EXPECT_GT(static_cast<int>(jobs()[0].phase), static_cast<int>(JobPhase::running));
  EXPECT_TRUE(platform::marked_processes(text(Mark{options_.run, 0, 1, 1})).empty());
}

TEST_F(SlurmWorldTest, ATaskThatEndedWellWhileTandemWasGoneHasEnded) {
  begin({});
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    until<EpochEnded>();
    decide(Continue{0, 1, epoch});
  }
  const auto record = folder_.path() / "slurm/0-1-1.exit.json";
  while (!std::filesystem::exists(record)) ::usleep(10'000);
  SlurmWorld next(options_);  // it has not heard of the end
  next.nodes();
  const auto events = next.reconcile(view_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<TaskEnded>(events[0].body));
}

TEST_F(SlurmWorldTest, ATicketIsUsedOnce) {
  begin({});
  until<EpochEnded>();
  std::ifstream in(folder_.path() / "slurm/0-1-1.ticket.json");
  const std::string ticket{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(run_agent(parse_ticket(ticket)), 3);
}

TEST_F(SlurmWorldTest, ShortTasksShareAPilot) {
  job_.epochs = 0;
  begin_command({"/bin/true"});
  until<TaskEnded>();
  for (TaskId task = 1; task < 12; ++task) {
    start(task);
    EXPECT_EQ(until<TaskEnded>().task, task);
  }
  EXPECT_EQ(count<TaskStarted>(), 12);
  EXPECT_EQ(jobs().size(), 4u) << "three that showed how short they are, and the pilot of the others";
}

TEST_F(SlurmWorldTest, APilotThatIsCancelledLosesItsTasksAndTheNextStartAnyway) {
  options_.pilots = Pilots::always;
  begin({"--hang-at", "1"});
  until<TaskStarted>();
  Commands().run_and_wait(scancel({jobs().at(0).id}), Seconds{30});
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::killed);
  EXPECT_NE(failed.detail.find("Slurm"), std::string::npos) << failed.detail;
  start(1);
  EXPECT_EQ(until<TaskStarted>().task, 1);
}

TEST_F(SlurmWorldTest, APilotThatNobodyNeedsIsGivenBack) {
  options_.pilots = Pilots::always;
  options_.pilot_idle = Seconds{0};
  job_.epochs = 0;
  begin_command({"/bin/true"});
  until<TaskEnded>();
  const auto ended = folder_.path() / "slurm/0-0-1.exit.json";
  for (int rounds = 0; !std::filesystem::exists(ended) && rounds < 600; ++rounds) world_->wait(Seconds{0.1});
  EXPECT_TRUE(std::filesystem::exists(ended));
}

TEST_F(SlurmWorldTest, ANodeThatIsDrainedHasNoCapacityUntilItIsBack) {
  options_.nodes_every = Seconds{0.2};
  begin({"--hang-at", "1"});
  until<TaskStarted>();
  auto update = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"scontrol", "update", "NodeName=n0"});
    EXPECT_TRUE(Commands().run_and_wait(words, Seconds{30}).well());
  };
  update({"State=DRAIN", "Reason=test"});
  const auto away = until<NodeJoined>();
  update({"State=RESUME"});  // before anything may fail: others need it
  EXPECT_EQ(away.name, "n0");
  EXPECT_EQ(away.capacity.cores, 0);
  EXPECT_EQ(until<NodeJoined>().capacity.cores, 4);
  EXPECT_EQ(view_.nodes[0].free_cores, 3) << "its task ran on";
  start(1, {3, 0, 1.0});
  EXPECT_EQ(until<TaskStarted>().task, 1);
}

// The last one: it takes as long as Slurm takes to miss a node.
TEST_F(SlurmWorldTest, ZANodeThatFailsLosesItsTaskAndNothingElse) {
  begin({"--hang-at", "2"});
  until<EpochEnded>();
  decide(Request{1, 0, {1, 0, 1.0}});
  decide(Start{1, 1, 1, {1, 0, 1.0}});
  until<EpochEnded>();
  TestCluster::instance().order("kill_node n0");
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.task, 0);
  EXPECT_EQ(failed.failure, Failure::lost) << failed.detail;
  decide(Continue{1, 1, 1});
  decide(Stop{1, 1, "enough"});
  EXPECT_EQ(until<TaskEnded>().task, 1);
  TestCluster::instance().order("start n0");
}

}  // namespace
}  // namespace tandem::slurm
