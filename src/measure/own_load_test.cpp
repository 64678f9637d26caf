#include "measure/own_load.h"

#include <gtest/gtest.h>

#include "measure/fake_proc.h"

namespace tandem::measure {
namespace {

// Tasks whose counters the test moves on; a task may use the CPUs that `cpus` names for its first process.
struct OwnLoadTest : testing::Test {
  FakeProc proc;
  Seconds waited_for{100};  // of earlier programs
  std::map<std::int64_t, std::vector<int>> cpus;
  OwnLoad own{OwnLoad::Sources{platform::ProcFs(proc.root()), [this] { return waited_for; },
                               [this](std::int64_t pid) { return cpus[pid]; }}};

  void runs(TaskId task, std::int64_t pid, std::vector<int> on, Seconds now = {}) {
    cpus[pid] = std::move(on);
    proc.process({.pid = pid, .group = pid});
    own.started(task, pid, now);
  }
  void ends(TaskId task, std::int64_t pid, double cpu, Seconds now) {
    proc.end(pid);
    cpus.erase(pid);
    waited_for.value += cpu;
    own.ended(task, now);
  }
};

TEST_F(OwnLoadTest, ATasksTimeIsSpreadOverItsCpusAndCountedOnce) {
  runs(1, 100, {0, 1});
  proc.process({.pid = 100, .group = 100, .cpu = 6, .pages = 10});
  proc.process({.pid = 101, .parent = 100, .group = 100, .cpu = 2, .pages = 5});
  const auto first = own.take({10});
  EXPECT_DOUBLE_EQ(first.cpu.at(0).value, 4);
  EXPECT_DOUBLE_EQ(first.cpu.at(1).value, 4);
  EXPECT_EQ(first.memory, 15 * sysconf(_SC_PAGESIZE));
  proc.process({.pid = 100, .group = 100, .cpu = 7, .children_cpu = 2});
  proc.end(101);
  cpus[100] = {3};  // it was resized
  const auto second = own.take({20});
  EXPECT_EQ(second.cpu.size(), 1U);
  EXPECT_DOUBLE_EQ(second.cpu.at(3).value, 1) << "its child's time was counted before, and is its own now";
}

TEST_F(OwnLoadTest, TheTimeOfThoseThatEndedBetweenTwoLooksIsNotLost) {
  runs(1, 100, {0}, {0});
  proc.process({.pid = 100, .group = 100, .cpu = 5});
  EXPECT_DOUBLE_EQ(own.take({10}).cpu.at(0).value, 5);
  runs(2, 200, {1}, {10});
  ends(1, 100, 8, {16});  // 3 s of it since the last look, which it ran for 6 s
  ends(2, 200, 1, {12});  // never seen; it ran for 2 s
  const auto use = own.take({20});
  EXPECT_DOUBLE_EQ(use.cpu.at(0).value, 3);
  EXPECT_DOUBLE_EQ(use.cpu.at(1).value, 1);
  EXPECT_TRUE(own.take({30}).cpu.empty());
}

TEST_F(OwnLoadTest, AnEndThatIsNotToldYetIsCountedWhenItIs) {
  runs(1, 100, {0}, {0});
  proc.end(100);
  waited_for.value += 4;
  EXPECT_TRUE(own.take({10}).cpu.empty());
  own.ended(1, {11});
  EXPECT_DOUBLE_EQ(own.take({20}).cpu.at(0).value, 4);
}

}  // namespace
}  // namespace tandem::measure
