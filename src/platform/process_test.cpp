#include "platform/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>

#include "platform/temporary.h"

namespace tandem::platform {
namespace {

// Starts a shell script and makes sure that it is gone afterwards.
class ProcessTest : public testing::Test {
 protected:
  ~ProcessTest() override {
    if (child_.pid > 0) {
      ::kill(-child_.pid, SIGKILL);
      ::waitpid(child_.pid, nullptr, 0);
    }
  }
  Launch shell(const std::string& script) {
    Launch launch;
    launch.arguments = {"/bin/sh", "-c", script};
    launch.mark = "process-test-" + std::to_string(::getpid());
    output_.reset(::open(output_file().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    launch.output = output_.get();
    return launch;
  }
  int wait() {
    int status = 0;
    ::waitpid(child_.pid, &status, 0);
    child_.pid = -1;
    return status;
  }
  std::string output() {
    std::ifstream in(output_file());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string output_file() const { return (folder_.path() / "output").string(); }

  TemporaryFolder folder_;
  Descriptor output_;
  Child child_;
};

TEST_F(ProcessTest, WaitsAtTheGateThenRunsWithItsEnvironmentInAGroupOfItsOwn) {
  auto launched = shell("echo $GREETING $TANDEM_MARK");
  launched.environment["GREETING"] = "hello";
  child_ = launch(launched);
  EXPECT_EQ(::getpgid(child_.pid), child_.pid);
  EXPECT_EQ(output(), "") << "nothing runs before the gate opens";
  EXPECT_EQ(open_gate(child_), 0);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(output(), "hello " + launched.mark + "\n");
}

TEST_F(ProcessTest, AProgramThatDoesNotExistIsSaidSo) {
  Launch nothing;
  nothing.arguments = {"/no/such/program"};
  child_ = launch(nothing);
  EXPECT_EQ(open_gate(child_), ENOENT);
}

TEST_F(ProcessTest, ThePidfdTellsOfTheEnd) {
  child_ = launch(shell("exit 3"));
  open_gate(child_);
  pollfd ready{child_.pidfd.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 20'000), 1);
  EXPECT_EQ(WEXITSTATUS(wait()), 3);
}

TEST_F(ProcessTest, ProcessesAreFoundByTheirMarkEvenOutsideTheGroup) {
  auto launched = shell("setsid sleep 1000 & echo started; sleep 1000");
  child_ = launch(launched);
  open_gate(child_);
  // The shell and two sleeps, one of which leaves the group as soon as it gets to it.
  std::vector<pid_t> found;
  while (found.size() < 3 || group_members(child_.pid).size() >= found.size())
    found = marked_processes(launched.mark);
  EXPECT_TRUE(std::count(found.begin(), found.end(), child_.pid));
  for (pid_t pid : found) ::kill(pid, SIGKILL);
  wait();
  while (!marked_processes(launched.mark).empty()) ::usleep(1000);
}

TEST_F(ProcessTest, AffinityReachesEveryProcessAndItsChildren) {
  cpu_set_t own;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(own), &own), 0);
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &own)) ++first;
  child_ = launch(shell("sleep 1000 & sleep 1000"));
  open_gate(child_);
  std::vector<pid_t> members;
  while (members.size() < 3) members = group_members(child_.pid);
  set_affinity(members, {first});
  for (pid_t pid : members) {
    cpu_set_t set;
    ASSERT_EQ(::sched_getaffinity(pid, sizeof(set), &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(first), &set));
  }
}

TEST_F(ProcessTest, ProcessesThatOnlyHaveToEndStepAside) {
  cpu_set_t own;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(own), &own), 0);
  std::vector<int> all;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &own)) all.push_back(cpu);
  child_ = launch(shell("sleep 1000 & sleep 1000"));
  open_gate(child_);
  std::vector<pid_t> members;
  while (members.size() < 3) members = group_members(child_.pid);
  set_affinity(members, {all.front()});
  step_aside(members, all);
  for (pid_t pid : members) {
    cpu_set_t set;
    ASSERT_EQ(::sched_getaffinity(pid, sizeof(set), &set), 0);
    EXPECT_TRUE(CPU_EQUAL(&set, &own));
    EXPECT_GT(::getpriority(PRIO_PROCESS, static_cast<id_t>(pid)), ::getpriority(PRIO_PROCESS, 0));
  }
}

TEST_F(ProcessTest, TheDataLimitCanBeLoweredRaisedAndLifted) {
  child_ = launch(shell("sleep 1000"));
  open_gate(child_);
  rlimit limit{};
  set_data_limit({child_.pid}, 64 * kMiB);
  ASSERT_EQ(::prlimit(child_.pid, RLIMIT_DATA, nullptr, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, static_cast<rlim_t>(64 * kMiB));
  set_data_limit({child_.pid}, 128 * kMiB);
  ASSERT_EQ(::prlimit(child_.pid, RLIMIT_DATA, nullptr, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, static_cast<rlim_t>(128 * kMiB));
  set_data_limit({child_.pid}, 0);
  ASSERT_EQ(::prlimit(child_.pid, RLIMIT_DATA, nullptr, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
}

TEST_F(ProcessTest, AProcessIsNamedByItsStartTime) {
  EXPECT_GT(start_time_of(::getpid()), 0);
  child_ = launch(shell("exit 0"));
  EXPECT_EQ(child_.started, start_time_of(child_.pid));
  open_gate(child_);
  wait();
  EXPECT_EQ(start_time_of(1 << 29), 0);
}

TEST_F(ProcessTest, RunsAsAnotherUserWithNothingOfOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start programs as others";
  ::setenv("PROCESS_TEST_SECRET", "ours", 1);
  auto launched = shell("id -u; id -G; env; echo $PPID");
  launched.as = Credentials::of(61001);
  launched.base = clean_environment(*launched.as, "");
  launched.folder = "/";
  child_ = launch(launched);
  EXPECT_EQ(open_gate(child_), 0);
  EXPECT_EQ(wait(), 0);
  ::unsetenv("PROCESS_TEST_SECRET");
  EXPECT_TRUE(output().starts_with("61001\n61001\n")) << output();
  EXPECT_EQ(output().find("PROCESS_TEST_SECRET"), std::string::npos) << output();
  EXPECT_NE(output().find("HOME=/\n"), std::string::npos) << output();
}

TEST_F(ProcessTest, SaysWhatFailedBeforeTheProgram) {
  auto launched = shell("true");
  launched.folder = "/nowhere";
  child_ = launch(launched);
  EXPECT_EQ(open_gate(child_), ENOENT);
  EXPECT_EQ(child_.failed, Child::Step::folder);
  wait();
  if (::geteuid() != 0) return;
  launched.as = Credentials::of(61001);
  launched.folder = folder_.path().string();  // 0700, root's
  child_ = launch(launched);
  EXPECT_EQ(open_gate(child_), EACCES);
  EXPECT_EQ(child_.failed, Child::Step::folder);
}

bool under_seccomp() {
  for (const auto& one : Sandbox::probe())
    if (one.mechanism == "seccomp") return one.available;
  return false;
}

TEST_F(ProcessTest, ASandboxHidesTheStoreAndTmpAndOtherProcesses) {
  if (const auto missing = Sandbox::missing()) GTEST_SKIP() << *missing;
  const auto store = folder_.path() / "store", own = store / "runs/r/task-1";
  std::filesystem::create_directories(own);
  std::ofstream(store / "serve-token") << "secret";
  std::ofstream(folder_.path() / "beside") << "x";
  std::ofstream(own / "checkpoint") << "mine";
  const auto outside = std::filesystem::temp_directory_path() / ("sandbox-test-" + std::to_string(::getpid()));
  std::ofstream(outside) << "another's";
  const auto script =
      "cat " + (store / "serve-token").string() + "; cat " + outside.string() +
      "; cat checkpoint; echo more > " + (own / "made").string() + "; touch " + (store / "x").string() + " " + (store / "runs/r/x").string() +
      "; touch /tmp/own && ls /tmp; cat /proc/" + std::to_string(::getpid()) + "/root" +
      (store / "serve-token").string() + "; grep -E 'NoNewPrivs|Seccomp:' /proc/self/status; unshare -r true && echo unshared; umount " + store.string();
  auto launched = shell(script);
  launched.folder = own.string();
  launched.sandbox.emplace(store, own, std::vector<std::filesystem::path>{});
  child_ = launch(launched);
  EXPECT_EQ(open_gate(child_), 0);
  wait();
  std::filesystem::remove(outside);
  EXPECT_EQ(output().find("secret"), std::string::npos) << output();
  EXPECT_EQ(output().find("another's"), std::string::npos) << output();
  EXPECT_NE(output().find("mine"), std::string::npos) << output();
  EXPECT_NE(output().find("own\n"), std::string::npos) << output();
  EXPECT_NE(output().find("NoNewPrivs:\t1"), std::string::npos) << output();
  EXPECT_EQ(output().find("unshared"), std::string::npos) << output();
  if (under_seccomp()) {
    EXPECT_NE(output().find("Seccomp:\t2"), std::string::npos) << output();
  }
  EXPECT_TRUE(std::filesystem::exists(own / "made"));
  EXPECT_FALSE(std::filesystem::exists(store / "x"));
  EXPECT_FALSE(std::filesystem::exists(store / "runs/r/x"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/own"));
}

}  // namespace
}  // namespace tandem::platform
