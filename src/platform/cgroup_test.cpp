#include "platform/cgroup.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::platform {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string read(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Plain folders in the shape of the kernel's trees. They do not grow files in new groups by themselves, so
// groups are laid out beforehand; what is tested is which files are written with what.
class FakeCgroups : public testing::Test {
 protected:
  CgroupSupport support(int version) {
    CgroupSupport made;
    made.version = version;
    made.memory_parent = version == 1 ? root() / "memory" : root();
    made.cpu_parent = version == 1 ? root() / "cpu" : root();
    made.pids_parent = version == 1 ? root() / "pids" : root();
    for (const auto& parent : {made.memory_parent, made.cpu_parent, made.pids_parent})
      for (const char* name :
           {"cgroup.procs", "memory.max", "memory.limit_in_bytes", "cpu.max", "cpu.cfs_quota_us",
            "cpu.cfs_period_us", "cpu.weight", "cpu.shares", "pids.max", "memory.events", "memory.oom_control"})
        write(parent / "tandem-x" / name, "");
    return made;
  }
  fs::path root() const { return folder_.path() / "cgroup"; }
  TemporaryFolder folder_;
};

TEST_F(FakeCgroups, VersionOneWritesItsFiles) {
  const auto made = support(1);
  Cgroup group(made, "x");
  group.set_memory(kGiB);
  group.set_cpu(1.5);
  group.add(99999999);
  EXPECT_EQ(read(root() / "memory/tandem-x/memory.limit_in_bytes"), "1073741824");
  EXPECT_EQ(read(root() / "cpu/tandem-x/cpu.cfs_quota_us"), "150000");
  EXPECT_EQ(read(root() / "cpu/tandem-x/cpu.cfs_period_us"), "100000");
  group.set_cpu_weight(2);
  EXPECT_EQ(read(root() / "cpu/tandem-x/cpu.shares"), "2048");
  group.set_processes(64);
  EXPECT_EQ(read(root() / "pids/tandem-x/pids.max"), "64");
  EXPECT_EQ(read(root() / "memory/tandem-x/cgroup.procs"), "99999999");
  EXPECT_EQ(read(root() / "pids/tandem-x/cgroup.procs"), "99999999");
  EXPECT_EQ(read(root() / "cpu/tandem-x/cgroup.procs"), "99999999");
  group.set_cpu(0);
  EXPECT_TRUE(read(root() / "cpu/tandem-x/cpu.cfs_quota_us").starts_with("-1"));
  write(root() / "memory/tandem-x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(group.oom_kills(), 3);
  write(root() / "memory/tandem-x/cgroup.procs", "");  // nobody is left to be killed
}

TEST_F(FakeCgroups, VersionTwoWritesItsFiles) {
  const auto made = support(2);
  Cgroup group(made, "x");
  group.set_memory(kGiB);
  group.set_cpu(0.5);
  EXPECT_EQ(read(root() / "tandem-x/memory.max"), "1073741824");
  EXPECT_EQ(read(root() / "tandem-x/cpu.max"), "50000 100000");
  group.set_cpu(1.5, Seconds{0.2});
  EXPECT_EQ(read(root() / "tandem-x/cpu.max"), "300000 200000");
  group.set_cpu_weight(2);
  EXPECT_EQ(read(root() / "tandem-x/cpu.weight"), "200");
  group.set_processes(64);
  EXPECT_EQ(read(root() / "tandem-x/pids.max"), "64");
  group.set_memory(0);
  EXPECT_TRUE(read(root() / "tandem-x/memory.max").starts_with("max"));
  write(root() / "tandem-x/memory.events", "low 0\nhigh 0\noom 2\noom_kill 1\n");
  EXPECT_EQ(group.oom_kills(), 1);
}

TEST_F(FakeCgroups, AGroupLeftBehindIsFound) {
  const auto made = support(2);
  EXPECT_TRUE(Cgroup::left_at(made.folders_of("x")));
  EXPECT_FALSE(Cgroup::left_at(made.folders_of("y")));
}

TEST_F(FakeCgroups, NoGroupOfOthersIsTakenForALeftOne) {
  write(root() / "system.slice/cgroup.procs", "1");
  write(root() / "tandem-not-one/tasks", "1");
  for (const fs::path& folder : {root() / "system.slice", root() / "tandem-x/../system.slice",
                                root() / "tandem-not-one", fs::path("tandem-x")})
    EXPECT_FALSE(Cgroup::left_at({folder})) << folder;
}

TEST_F(FakeCgroups, WhereTheKernelCanItEndsAllAtOnce) {
  auto made = support(1);
  made.kill_parent = root() / "unified";
  for (const char* name : {"cgroup.procs", "cgroup.kill"}) write(made.kill_parent / "tandem-x" / name, "");
  Cgroup group(made, "x");
  group.add(99999999);
  EXPECT_EQ(read(root() / "unified/tandem-x/cgroup.procs"), "99999999");
  std::thread kernel([&] {
    while (read(root() / "unified/tandem-x/cgroup.kill") != "1") std::this_thread::yield();
    for (const char* tree : {"memory", "cpu", "pids", "unified"}) write(root() / tree / "tandem-x/cgroup.procs", "");
  });
  group.kill_all();
  kernel.join();
  EXPECT_TRUE(group.processes().empty());
}

TEST_F(FakeCgroups, AMachineWithoutThemSaysSo) {
  const auto none = CgroupSupport::detect(folder_.path() / "proc", folder_.path() / "nothing");
  EXPECT_FALSE(none.any());
  EXPECT_FALSE(none.why_memory.empty());
  EXPECT_FALSE(none.why_cpu.empty());
  EXPECT_FALSE(none.why_pids.empty());
}

TEST_F(FakeCgroups, VersionTwoWithoutDelegationSaysWhatToDo) {
  write(root() / "cgroup.controllers", "cpuset io");
  write(folder_.path() / "proc/self/cgroup", "0::/\n");
  const auto found = CgroupSupport::detect(folder_.path() / "proc", root());
  EXPECT_FALSE(found.any());
  EXPECT_NE(found.why_memory.find("not delegated"), std::string::npos) << found.why_memory;
}

TEST_F(FakeCgroups, VersionTwoGroupsInWhichNoLimitAppearsAreNotTrusted) {
  write(root() / "cgroup.controllers", "cpu memory");
  write(root() / "cgroup.subtree_control", "");
  write(folder_.path() / "proc/self/cgroup", "0::/\n");
  const auto found = CgroupSupport::detect(folder_.path() / "proc", root());
  EXPECT_FALSE(found.memory());
  EXPECT_NE(found.why_memory.find("memory.max"), std::string::npos) << found.why_memory;
}

TEST_F(FakeCgroups, VersionOneThatCannotBeWrittenSaysSo) {
  write(folder_.path() / "proc/self/cgroup", "4:memory:/own\n1:cpu,cpuacct:/own\n");
  fs::create_directories(root() / "memory/own");
  const auto found = CgroupSupport::detect(folder_.path() / "proc", root());
  EXPECT_FALSE(found.memory());
  EXPECT_NE(found.why_memory.find("memory.limit_in_bytes"), std::string::npos) << found.why_memory;
  EXPECT_NE(found.why_cpu.find("no group"), std::string::npos) << found.why_cpu;
}

// The kernel's own, where this machine lets us.
TEST(RealCgroups, AreMadeHoldProcessesEndThemAndGo) {
  const auto support = CgroupSupport::detect();
  if (!support.any())
    GTEST_SKIP() << "no writable cgroups here: " << support.why_memory << "; " << support.why_cpu;
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  const std::string name = "test-" + std::to_string(::getpid());
  {
    Cgroup group(support, name);
    group.add(child);
    EXPECT_EQ(group.processes(), std::vector<pid_t>{child});
    group.set_memory(256 * kMiB);
    group.set_cpu(0.5);
    EXPECT_EQ(group.oom_kills(), 0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(Cgroup::left_at(support.folders_of(name)));
}

// Each child forks again at once: killed one by one they would always be one ahead.
TEST(RealCgroups, AForkBombStaysBelowItsLimitAndIsEnded) {
  const auto support = CgroupSupport::detect();
  if (!support.pids()) GTEST_SKIP() << "processes cannot be counted here: " << support.why_pids;
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char go;
    [[maybe_unused]] const auto got = ::read(gate[0], &go, 1);
    while (true) {
      const pid_t next = ::fork();
      if (next > 0) ::_exit(0);  // the child goes on: nobody is there for long
      if (next < 0) ::usleep(1000);
      if (next == 0 && ::fork() < 0) ::usleep(1000);
    }
  }
  const std::string name = "bomb-" + std::to_string(::getpid());
  {
    Cgroup group(support, name);
    group.set_processes(40);
    group.add(child);
    ASSERT_EQ(::write(gate[1], "x", 1), 1);
    for (int i = 0; i < 50; ++i) {
      EXPECT_LE(group.processes().size(), 40U);
      ::usleep(2000);
    }
    EXPECT_GT(group.processes().size(), 1U);
  }
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(Cgroup::left_at(support.folders_of(name))) << "it could not be removed: processes are left in it";
  ::close(gate[0]), ::close(gate[1]);
}

}  // namespace
}  // namespace tandem::platform
