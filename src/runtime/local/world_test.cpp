// The local world with real programs: limits that hold, programs that misbehave, groups that end whole.
// What every world must do is in tests/contract.
#include "runtime/local/world.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "control/loop.h"
#include "control/memory_journal.h"
#include "place/engine/scheduler.h"
#include "platform/process_tree.h"
#include "platform/temporary.h"
#include "tune/train.h"

namespace tandem::local {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string status_line(std::int64_t pid, const std::string& key) {
  std::istringstream in(read("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ":")) return line.substr(line.find('\t') + 1);
  return "";
}

class LocalWorldTest : public testing::Test {
 protected:
  LocalWorldTest() {
    options_.run = "local-world-test-" + std::to_string(::getpid());
    options_.folder = folder_.path();
    options_.grace = Seconds{0.2};
    job_.epochs = 3;
    job_.limits.retries = 0;
    job_.limits.stall = Seconds{30};
  }
  // Runs the speaker with these arguments until its job is over.
  const View& run(std::vector<std::string> arguments,
                  std::function<std::optional<std::string>()> cancel = {}) {
    job_.program.command = {SPEAKER};
    job_.program.command.insert(job_.program.command.end(), arguments.begin(), arguments.end());
    return run_job(cancel);
  }
  const View& run_job(std::function<std::optional<std::string>()> cancel = {}) {
    world_ = std::make_unique<LocalWorld>(options_);
    std::vector<std::unique_ptr<Policy>> policies;
    policies.push_back(std::make_unique<tune::TrainController>());
    policies.push_back(std::make_unique<place::Scheduler>(place::parse_policy("fifo:malleable"), 1));
    loop_ = std::make_unique<control::Loop>(control::Ports{*world_, journal_, nullptr, nullptr},
                                            std::move(policies));
    loop_->open();
    loop_->submit(job_);
    loop_->run(cancel);
    return loop_->view();
  }
  const JobView& job() const { return loop_->view().jobs.at(0); }
  const TaskView& task() const { return loop_->view().tasks.at(0); }
  Failure failure() const { return task().last_failure.value().failure; }
  bool child_is_gone() const {
    const auto pid = std::atoi(read(folder_.path() / "task-0/child").c_str());
    return pid > 0 && platform::start_time_of(pid) == 0;
  }

  platform::TemporaryFolder folder_;
  LocalOptions options_;
  spec::TrainJob job_;
  control::MemoryJournal journal_;
  std::unique_ptr<LocalWorld> world_;
  std::unique_ptr<control::Loop> loop_;
};

TEST_F(LocalWorldTest, AGoodProgramRunsToItsEnd) {
  run({"--say", "hello"});
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
  EXPECT_EQ(task().reported(), 3);
  EXPECT_EQ(read(folder_.path() / "output.log"), "hello\n");
  EXPECT_TRUE(platform::marked_processes(options_.run + "-0-1").empty());
}

// Its own number and what `ls` opens are left out.
TEST_F(LocalWorldTest, ProgramsInheritTheirSocketAloneAndPlainOnesNothing) {
  const platform::Descriptor left_open(::dup(STDOUT_FILENO)), high(::fcntl(STDOUT_FILENO, F_DUPFD, 500));
  const std::string list =
      "for f in /proc/$$/fd/*; do echo ${f##*/} $(readlink $f); done | grep -v '^[012] ' > $TANDEM_FOLDER/fds; "
      "echo $TANDEM_SOCKET > $TANDEM_FOLDER/socket";
  job_.program.command = {"bash", "-c", list};
  job_.program.plain = true;
  job_.epochs = 0;
  run_job();
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
  EXPECT_EQ(read(folder_.path() / "task-0/fds").find("socket"), std::string::npos);
  EXPECT_EQ(read(folder_.path() / "task-0/fds").find("500 "), std::string::npos);
  EXPECT_EQ(read(folder_.path() / "task-0/socket"), "\n");
  job_.program.plain = false;
  job_.program.command = {"bash", "-c", list + R"(; echo '{"type":"epoch","metrics":{}}' >&$TANDEM_SOCKET)"};
  job_.epochs = 1;
  journal_ = {};
  run_job();
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
  const auto listed = read(folder_.path() / "task-0/fds");
  auto own = read(folder_.path() / "task-0/socket");
  own.pop_back();
  EXPECT_NE(listed.find(own + " socket:"), std::string::npos) << listed;
  EXPECT_EQ(listed.find("socket:"), listed.rfind("socket:")) << listed;
  EXPECT_EQ(listed.find("500 "), std::string::npos) << listed;
}

TEST_F(LocalWorldTest, AProgramThatFloodsFailsAndKeepsNobodyWaiting) {
  job_.program.command = {"python3", "-c",
                          "import os\nwhile True: os.write(int(os.environ['TANDEM_SOCKET']), b'{\"type\":\"ready\"}\\n' * 4000)"};
  run_job();
  EXPECT_EQ(failure(), Failure::bad_report);
  EXPECT_NE(task().last_failure->detail.find("lines within"), std::string::npos);
}

TEST_F(LocalWorldTest, WhatOneProgramSaysIsHeardInTurns) {
  world_ = std::make_unique<LocalWorld>(options_);
  View view;
  for (const auto& node : world_->nodes()) view.apply(Event{Seconds{1}, node});
  job_.program.command = {"python3", "-c",
                          "import os\ns = int(os.environ['TANDEM_SOCKET'])\n"
                          "os.write(s, b'{\"type\":\"ready\"}\\n' * 4000 + b'{\"type\":\"epoch\",\"metrics\":{}}\\n')\n"
                          "open(os.environ['TANDEM_FOLDER'] + '/written', 'w')\nos.read(s, 100)"};
  view.apply(Event{Seconds{1}, JobSubmitted{0, job_}});
  view.apply(Decision{view.next_decision, Request{0, 0, {1, 0, 1.0}}});
  const Decision start{view.next_decision, Start{0, 1, 0, {1, 0, 1.0}}};
  view.apply(start);
  world_->carry_out(start, view);
  while (!std::filesystem::exists(folder_.path() / "task-0/written")) ::usleep(1000);
  // 64 000 bytes wait: an interrupt is seen, and deadlines are looked at, before the last of them.
  int turns = 0;
  for (bool reported = false; !reported && turns < 1000; ++turns)
    for (const auto& event : world_->wait(Seconds{10}))
      reported |= std::holds_alternative<EpochEnded>(event.body);
  EXPECT_GE(turns, 4);
  EXPECT_LT(turns, 1000);
}

// None of these may make the world wait, or write elsewhere.
TEST_F(LocalWorldTest, AProgramMayReplaceItsLogAndItsFolder) {
  options_.output_each = true;
  std::ofstream(folder_.path() / "precious") << "precious";
  for (const char* deed : {"rm output.log; mkfifo output.log", "rm output.log; ln -s $F/precious output.log",
                           "cd $F; mv task-0 away; mkdir elsewhere; ln -s elsewhere task-0",
                           "rm output.log; mkdir -p output.log/x output.log.1/x"}) {
    job_.program.command = {"bash", "-c", "export F=$(dirname $TANDEM_FOLDER); cd $TANDEM_FOLDER; " + std::string(deed) + "; echo done; exit 7"};
    journal_ = {};
    run_job();
    EXPECT_EQ(failure(), Failure::crashed) << deed;
    EXPECT_EQ(task().last_failure->last_output, "done") << deed;
    EXPECT_EQ(read(folder_.path() / "precious"), "precious") << deed;
    world_.reset();
    std::filesystem::remove_all(folder_.path() / "task-0");
  }
}

TEST_F(LocalWorldTest, WhatAProgramPrintsIsKeptUpToItsLimit) {
  job_.limits.output = 1 << 20;
  job_.program.command = {"bash", "-c", "yes 0123456789abcde | head -c 64M; echo the end; exit 7"};
  run_job();
  EXPECT_EQ(failure(), Failure::crashed) << job().reason;
  EXPECT_TRUE(task().last_failure->last_output.ends_with("the end"));
  const auto size = [&](const char* name) { return std::filesystem::file_size(folder_.path() / name); };
  EXPECT_LE(size("output.log") + size("output.log.1"), (1u << 20) + 1000);
  EXPECT_GE(size("output.log") + size("output.log.1"), 1u << 19);
  const auto newest = read(folder_.path() / "output.log");
  EXPECT_TRUE(newest.ends_with("the end\n"));
  EXPECT_NE(newest.find(" MiB that were printed before were not kept (limits.output is 1 MiB)"), std::string::npos) << newest.substr(0, 200);
}

// A machine of two CPUs, whatever there is here: both are CPUs this process may use, or one twice.
platform::Topology two_cpus() {
  auto topology = platform::Topology::detect();
  while (topology.cpus.size() < 2) topology.cpus.push_back(topology.cpus.front());
  topology.cpus.resize(2);
  return topology;
}

TEST_F(LocalWorldTest, LanesShareTheCpusAndATaskSitsWhereFewestSit) {
  options_.topology = two_cpus();
  if (options_.topology.cpus[0].id == options_.topology.cpus[1].id) GTEST_SKIP() << "only one CPU here";
  options_.lanes = 3;
  LocalWorld world(options_);
  job_.program.command = {SPEAKER, "--sleep-ms", "1000"};
  View view;
  const auto happens = [&](EventBody body) { view.apply(Event{Seconds{1}, std::move(body)}); };
  const auto joined = world.nodes();
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_NE(joined[0].name, joined[1].name);
  for (const auto& node : joined) {
    EXPECT_EQ(node.capacity.cores, 2);
    happens(node);
  }
  happens(JobSubmitted{0, job_});
  const auto start = [&](NodeId node, int cores, Bytes memory) {
    const auto task = static_cast<TaskId>(view.tasks.size());
    const Resources wanted{cores, memory, 1.0};
    view.apply(Decision{view.next_decision, Request{task, 0, wanted}});
    const Decision decision{view.next_decision, Start{task, 1, node, wanted}};
    view.apply(decision);
    world.carry_out(decision, view);
    return world.wait(Seconds{0}).front().body;
  };
  const auto cpus = [](const EventBody& body) { return std::get<TaskStarted>(body).cpus; };
  const auto first = cpus(start(0, 1, 0));
  const auto second = cpus(start(1, 1, 0));
  EXPECT_NE(first, second) << "the other CPU was idle";
  EXPECT_EQ(cpus(start(2, 2, 0)).size(), 2u) << "all of them, shared";
  EXPECT_EQ(cpus(start(0, 1, 0)), second) << "a lane hands a CPU of its own out once";
  EXPECT_TRUE(std::holds_alternative<DecisionRefused>(start(0, 1, 0))) << "both of its CPUs are taken";
  const Bytes all = joined[0].capacity.memory;
  EXPECT_TRUE(std::holds_alternative<DecisionRefused>(start(1, 1, all + 1))) << "more than there is";
}

TEST_F(LocalWorldTest, LanesHaveOneMemoryBetweenThem) {
  options_.topology.memory = 8 * kGiB;
  options_.lanes = 2;
  LocalWorld world(options_);
  job_.program.command = {SPEAKER, "--sleep-ms", "1000"};
  View view;
  for (const auto& node : world.nodes()) view.apply(Event{Seconds{1}, node});
  view.apply(Event{Seconds{1}, JobSubmitted{0, job_}});
  const Bytes most = view.nodes[0].capacity.memory / 2 + kMiB;
  for (TaskId task = 0; task < 2; ++task) {
    const Resources wanted{1, most, 1.0};
    view.apply(Decision{view.next_decision, Request{task, 0, wanted}});
    const Decision decision{view.next_decision, Start{task, 1, static_cast<NodeId>(task), wanted}};
    view.apply(decision);
    world.carry_out(decision, view);
    const auto body = world.wait(Seconds{0}).front().body;
    EXPECT_EQ(std::holds_alternative<DecisionRefused>(body), task == 1) << "the second would be over it";
  }
}

TEST_F(LocalWorldTest, AProgramThatDoesNotExist) {
  job_.program.command = {"no-such-program-anywhere"};
  run_job();
  EXPECT_EQ(job().state, JobState::failed);
  EXPECT_EQ(failure(), Failure::could_not_start);
  EXPECT_NE(job().reason.find("no-such-program-anywhere"), std::string::npos);
}

TEST_F(LocalWorldTest, AProgramThatCrashesLeavesItsLastWords) {
  run({"--crash-at", "2"});
  EXPECT_EQ(failure(), Failure::crashed);
  EXPECT_EQ(task().last_failure->detail, "exit status 7");
  EXPECT_EQ(task().last_failure->last_output, "speaker: something broke");
  EXPECT_EQ(task().reported(), 1) << "what it had reported stays";
}

TEST_F(LocalWorldTest, AProgramThatIsKilledIsStartedAgainFromItsCheckpoint) {
  job_.limits.retries = 1;
  run({"--kill-at", "2"});  // both attempts die there
  EXPECT_EQ(failure(), Failure::killed);
  EXPECT_EQ(task().attempt, 2);
  EXPECT_EQ(task().reported(), 1);
}

TEST_F(LocalWorldTest, AProgramThatHangsIsNoticed) {
  job_.limits.stall = Seconds{0.3};
  run({"--hang-at", "2"});
  EXPECT_EQ(failure(), Failure::stalled);
}

TEST_F(LocalWorldTest, ANumberThatIsNoneIsKeptByNameAndSaidOnce) {
  run({"--nan-at", "2"});
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
  ASSERT_EQ(task().epochs.size(), 3U);
  EXPECT_EQ(task().epochs[1].not_finite, std::vector<std::string>{"loss"});
  EXPECT_FALSE(task().epochs[1].metrics.contains("loss"));
  EXPECT_TRUE(task().epochs[2].metrics.contains("loss"));
  EXPECT_EQ(read(folder_.path() / "output.log"),
            "[tandem] task 0: metric 'loss' is NaN in epoch 2: kept as null, and not said again\n");
}

TEST_F(LocalWorldTest, GarbageAndGapsAreBadReports) {
  for (const char* fault : {"--garbage-at", "--skip-at"}) {
    journal_ = {};
    run({fault, "2", "--no-checkpoints"});
    EXPECT_EQ(failure(), Failure::bad_report) << fault;
    EXPECT_EQ(job().state, JobState::failed);
  }
}

TEST_F(LocalWorldTest, ExitingWithoutAReportIsSilence) {
  run({"--silent"});
  EXPECT_EQ(failure(), Failure::silent);
}

TEST_F(LocalWorldTest, EndingEarlyIsAllowed) {
  run({"--exit-at", "2"});
  EXPECT_EQ(job().state, JobState::finished);
  EXPECT_EQ(task().reported(), 1);
}

TEST_F(LocalWorldTest, ReportsPastTheEndAreNotCounted) {
  run({"--report-past-the-end"});
  EXPECT_EQ(job().state, JobState::finished);
  EXPECT_EQ(task().reported(), 3);
  EXPECT_NE(read(folder_.path() / "output.log").find("not counted"), std::string::npos);
}

TEST_F(LocalWorldTest, AProgramWithoutHelloCanBeRunToo) {
  run({"--no-hello", "--no-checkpoints"});
  EXPECT_EQ(job().state, JobState::finished);
  EXPECT_EQ(task().reported(), 3);
}

TEST_F(LocalWorldTest, ChildrenEndWithTheirProgram) {
  run({"--fork"});
  EXPECT_EQ(job().state, JobState::finished);
  EXPECT_TRUE(child_is_gone());
}

TEST_F(LocalWorldTest, ChildrenThatLeftTheGroupEndTooWithAndWithoutCgroups) {
  run({"--escape"});
  while (!child_is_gone()) ::usleep(1000);  // killed it is; there may be no cgroups here to wait for
  options_.cgroups = {};
  journal_ = {};
  std::filesystem::remove_all(folder_.path() / "task-0");
  run({"--escape"});
  while (!child_is_gone()) ::usleep(1000);
}

// Its child has a session of its own, an empty environment and no parent any more; it may kill its keeper too.
TEST_F(LocalWorldTest, WithoutCgroupsNothingAProgramDoesLetsItsChildrenOutliveIt) {
  options_.cgroups = {};
  job_.program.plain = true;
  job_.epochs = 0;
  const std::string begin = "(env -i setsid sh -c 'echo $$ > " + (folder_.path() / "child").string() +
                            "; (sleep 1000 &) ; exec sleep 1000' &) ; while ! test -s " +
                            (folder_.path() / "child").string() + "; do sleep 0.01; done";
  for (const std::string end : {"exit 0", "kill -9 $$", "kill -9 $PPID; sleep 1000"}) {
    std::filesystem::remove(folder_.path() / "child");
    journal_ = {};
    job_.program.command = {"sh", "-c", begin + "; " + end};
    run_job();
    const auto pid = std::atoi(read(folder_.path() / "child").c_str());
    ASSERT_GT(pid, 0);
    EXPECT_EQ(platform::start_time_of(pid), 0) << end;
    EXPECT_TRUE(platform::session_members(pid).empty()) << end;
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "processes")) << end;
  }
}

TEST_F(LocalWorldTest, WhatItStartsIsOnDiskBeforeItBegins) {
  job_.program.plain = true;
  job_.epochs = 0;
  job_.program.command = {"cp", "-r", (folder_.path() / "processes").string(),
                          (folder_.path() / "seen").string()};
  run_job();
  const auto seen = nlohmann::json::parse(read(folder_.path() / "seen" / (options_.run + "-0-1.json")));
  EXPECT_EQ(seen["pid"], task().pid);
  EXPECT_EQ(seen["started"], task().pid_started);
  EXPECT_GT(seen["keeper"], 0);
  EXPECT_EQ(seen["cgroups"].empty(), !options_.cgroups.any());
}

TEST_F(LocalWorldTest, ACancelEndsEvenADeafProgram) {
  int asked = 0;
  run({"--deaf", "--hang-at", "1"}, [&]() -> std::optional<std::string> {
    return loop_->view().holding.empty() || ++asked < 5 ? std::nullopt : std::optional<std::string>("enough");
  });
  EXPECT_EQ(job().state, JobState::stopped);
  EXPECT_EQ(job().reason, "enough");
  EXPECT_TRUE(platform::marked_processes(options_.run + "-0-1").empty());
}

TEST_F(LocalWorldTest, SleepsWhileAProgramThatShallEndHasNot) {
  job_.limits.stall = Seconds{1};
  options_.grace = Seconds{1.3};
  job_.program.command = {SPEAKER, "--deaf", "--hang-at", "1"};
  LocalWorld world(options_);
  View view;
  const auto decide = [&](DecisionBody body) {
    const Decision decision{view.next_decision, std::move(body)};
    view.apply(decision);
    world.carry_out(decision, view);
  };
  for (const auto& node : world.nodes()) view.apply(Event{Seconds{1}, node});
  view.apply(Event{Seconds{1}, JobSubmitted{0, job_}});
  decide(Request{0, 0, {1, 0, 1.0}});
  decide(Start{0, 1, 0, {1, 0, 1.0}});
  decide(Stop{0, 1, "enough"});
  int woken_for_nothing = 0;
  for (bool over = false; !over;) {
    const auto events = world.wait(Seconds{10});
    woken_for_nothing += events.empty();
    for (const auto& event : events)
      over |= std::holds_alternative<TaskEnded>(event.body) || std::holds_alternative<TaskFailed>(event.body);
  }
  EXPECT_LT(woken_for_nothing, 20);
}

TEST_F(LocalWorldTest, MemoryBeyondTheLimitIsNamedAsSuch) {
  if (!options_.cgroups.memory()) GTEST_SKIP() << "no memory cgroup: " << options_.cgroups.why_memory;
  job_.system.memory = 64 * kMiB;
  run({"--eat", "268435456"});
  EXPECT_EQ(failure(), Failure::out_of_memory) << task().last_failure->detail;
}

TEST_F(LocalWorldTest, AForkBombHasNoMoreProcessesThanItsLimitAndEndsWithItsTask) {
  if (!options_.cgroups.pids()) GTEST_SKIP() << "no pids cgroup: " << options_.cgroups.why_pids;
  job_.program.plain = true;
  job_.epochs = 0;
  job_.limits.processes = 12;
  // The shell itself is one; a fork beyond the limit ends dash, so the last word is written by a child.
  job_.program.command = {"sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 60 & echo x; done"};
  run_job();
  const auto printed = read(folder_.path() / "output.log");
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n') - 1, 11) << printed;
  EXPECT_NE(printed.find("fork"), std::string::npos) << printed;
  EXPECT_TRUE(platform::marked_processes(options_.run + "-0-1").empty());
}

TEST_F(LocalWorldTest, WithoutCgroupsMemoryIsLimitedByRlimit) {
  options_.cgroups = {};
  job_.system.memory = 64 * kMiB;
  run({"--eat", "268435456"});
  EXPECT_EQ(job().state, JobState::failed) << "std::bad_alloc ends it";
}

TEST_F(LocalWorldTest, WithoutAnyMechanismASpeedIsRefusedWithAReason) {
  options_.cgroups = {};
  options_.cpufreq = folder_.path() / "none";
  job_.system.speed = 0.5;
  run({});
  EXPECT_EQ(job().state, JobState::failed);
  EXPECT_NE(job().reason.find("speed"), std::string::npos) << job().reason;
  EXPECT_TRUE(platform::marked_processes(options_.run + "-0-1").empty());
}

// Drives the world by hand: start, change while it runs, look at the kernel.
class ByHand : public LocalWorldTest {
 protected:
  void begin(Resources granted, std::vector<std::string> arguments) {
    job_.program.command = {SPEAKER};
    job_.program.command.insert(job_.program.command.end(), arguments.begin(), arguments.end());
    job_.epochs = 1000;
    world_ = std::make_unique<LocalWorld>(options_);
    for (const auto& node : world_->nodes()) view_.apply(Event{Seconds{1}, node});
    view_.apply(Event{Seconds{1}, JobSubmitted{0, job_}});
    decide(Request{0, 0, granted});
    decide(Start{0, 1, 0, granted});
  }
  DecisionId decide(DecisionBody body) {
    const Decision decision{view_.next_decision, std::move(body)};
    view_.apply(decision);
    world_->carry_out(decision, view_);
    return decision.id;
  }
  // Events until one of this kind, which is returned.
  template <class Kind>
  Kind until() {
    while (true)
      for (const auto& event : world_->wait(Seconds{1})) {
        view_.apply(event);
        if (const auto* found = std::get_if<Kind>(&event.body)) return *found;
      }
  }
  View view_;
};

TEST_F(ByHand, CoresAndSpeedChangeWhileItRuns) {
  const int cores = static_cast<int>(options_.topology.cpus.size());
  if (cores < 2) GTEST_SKIP() << "one core only";
  begin({2, 0, 1.0}, {});
  const auto started = until<TaskStarted>();
  EXPECT_EQ(started.cpus.size(), 2u);
  until<EpochEnded>();
  decide(Resize{0, 1, {1, 0, 1.0}});
  EXPECT_EQ(until<SystemChanged>().granted.cores, 1);
  const auto allowed = status_line(started.pid, "Cpus_allowed_list");
  EXPECT_EQ(allowed.find_first_of(",-"), std::string::npos) << allowed;
  decide(Continue{0, 1, 1});
  until<EpochEnded>();
  while (read(folder_.path() / "output.log").find("told: 1 cores") == std::string::npos) ::usleep(1000);

  if (options_.cgroups.cpu()) {
    decide(Resize{0, 1, {1, 0, 0.5}});
    EXPECT_EQ(until<SystemChanged>().granted.speed, 0.5);
    const auto group = options_.cgroups.cpu_parent / ("tandem-" + options_.run + "-0-1");
    const auto quota = read(group / (options_.cgroups.version == 1 ? "cpu.cfs_quota_us" : "cpu.max"));
    EXPECT_TRUE(quota.starts_with("50000")) << quota;
  }
  decide(Resize{0, 1, {2, 0, 1.0}});
  EXPECT_EQ(until<SystemChanged>().granted.cores, 2);
  EXPECT_NE(status_line(started.pid, "Cpus_allowed_list"), allowed);
}

TEST_F(ByHand, MemoryChangesWhileItRuns) {
  if (!options_.cgroups.memory()) GTEST_SKIP() << "no memory cgroup: " << options_.cgroups.why_memory;
  begin({1, 256 * kMiB, 1.0}, {});
  until<EpochEnded>();
  decide(Resize{0, 1, {1, 512 * kMiB, 1.0}});
  until<SystemChanged>();
  const auto group = options_.cgroups.memory_parent / ("tandem-" + options_.run + "-0-1");
  const auto limit = read(group / (options_.cgroups.version == 1 ? "memory.limit_in_bytes" : "memory.max"));
  EXPECT_EQ(std::stoll(limit), 512 * kMiB);
}

TEST_F(ByHand, ClocksAreLimitedByCpufreqWhereThereIsOneAndPutBackAfterACrash) {
  for (const auto& cpu : options_.topology.cpus) {
    const auto folder = folder_.path() / ("sys/cpu" + std::to_string(cpu.id)) / "cpufreq";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "cpuinfo_max_freq") << "2000000";
    std::ofstream(folder / "scaling_max_freq") << "2000000";
  }
  options_.cpufreq = folder_.path() / "sys";
  begin({1, 0, 0.5}, {});
  const auto cpu = until<TaskStarted>().cpus.at(0);
  const auto limit = folder_.path() / ("sys/cpu" + std::to_string(cpu)) / "cpufreq/scaling_max_freq";
  EXPECT_EQ(read(limit), "1000000");
  const auto kept = read(folder_.path() / "former-clocks.json");
  world_.reset();
  EXPECT_EQ(read(limit), "2000000");

  // As a killed Tandem would have left it:
  std::ofstream(limit) << "1000000";
  std::ofstream(folder_.path() / "former-clocks.json") << kept;
  LocalWorld next(options_);
  next.reconcile(view_);
  EXPECT_EQ(read(limit), "2000000");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "former-clocks.json"));
}

TEST_F(ByHand, WhatACrashLeftIsEndedBeforeAnythingNewStarts) {
  begin({1, 0, 1.0}, {"--escape"});
  const auto started = until<EpochEnded>();
  // Another Tandem finds the processes of one that is gone (this one, as far as it can tell).
  LocalWorld next(options_);
  const auto events = next.reconcile(view_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<TaskFailed>(events[0].body).failure, Failure::lost);
  EXPECT_EQ(std::get<TaskFailed>(events[0].body).attempt, started.attempt);
  EXPECT_TRUE(platform::marked_processes(options_.run + "-0-1").empty());
}

// Killed, and stopped in the kernel on its way out, as by a disk that does not answer.
TEST_F(ByHand, AFullDiskDoesNotWaitForEverForAProgramThatDoesNotDie) {
  options_.dying = Seconds{0.05};
  options_.cgroups = {};
  begin({1, 0, 1.0}, {"--hang-at", "1"});
  const auto pid = static_cast<pid_t>(until<TaskStarted>().pid);
  if (::ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXIT) != 0) GTEST_SKIP() << "no ptrace: " << ::strerror(errno);
  world_->out_of_space();
  ASSERT_NE(platform::start_time_of(pid), 0) << "it is there still";
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, __WALL), pid);
  ASSERT_TRUE(WIFSTOPPED(status));
  ASSERT_EQ(::ptrace(PTRACE_DETACH, pid, 0, 0), 0);
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::no_space);
  EXPECT_NE(failed.detail.find("did not end within 50 ms"), std::string::npos) << failed.detail;
}

TEST_F(ByHand, AFullDiskEndsWhatRuns) {
  begin({1, 0, 1.0}, {"--hang-at", "1"});
  const auto pid = static_cast<pid_t>(until<TaskStarted>().pid);
  world_->out_of_space();
  EXPECT_EQ(platform::start_time_of(pid), 0);
  const auto failed = until<TaskFailed>();
  EXPECT_EQ(failed.failure, Failure::no_space);
  EXPECT_EQ(failed.detail.find("did not end"), std::string::npos) << failed.detail;
}

TEST_F(ByHand, AnInterruptEndsAWait) {
  begin({1, 0, 1.0}, {"--hang-at", "1"});
  until<TaskStarted>();
  world_->interrupt();
  EXPECT_TRUE(world_->wait(Seconds{3600}).empty());
}

}  // namespace
}  // namespace tandem::local
