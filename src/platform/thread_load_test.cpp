#include "platform/thread_load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/fake_tree.h"

namespace tandem::platform {
namespace {

// As /proc was on two CPUs while two threads of process 40 trained, 41 slept, and 50 (we) looked.
struct Recorded : FakeTree {
  void thread(int process, int id, const std::string& schedstat) const {
    write("proc/" + std::to_string(process) + "/task/" + std::to_string(id) + "/schedstat", schedstat);
  }
  ThreadTimes look() const {
    write("proc/loadavg", "3.00 2.00 1.00 4/80 50\n");
    const auto found = thread_times(root() / "proc");
    EXPECT_TRUE(found);
    return found.value_or(ThreadTimes{});
  }
};

TEST(ThreadLoad, TwoThreadsThatShareTheirCpusWantTwoCores) {
  const Recorded proc;
  proc.thread(40, 40, "7000000000 1000000000 12\n");
  proc.thread(40, 44, "6000000000 2000000000 13\n");
  proc.thread(41, 41, "500000000 0 2\n");
  proc.thread(50, 50, "100000000 0 1\n");
  const auto before = proc.look();
  proc.thread(40, 40, "7067000000 1133000000 15\n");  // a third of the time on a CPU, the rest in line
  proc.thread(40, 44, "6200000000 2000000000 13\n");
  proc.thread(50, 50, "300000000 0 9\n");
  const auto wanted = cores_wanted(before, proc.look(), Seconds{0.2}, 50);
  EXPECT_NEAR(wanted.used, 1.335, 1e-9);
  EXPECT_NEAR(wanted.in_line, 0.665, 1e-9);
  EXPECT_NEAR(wanted.all(), 2, 1e-9) << "whoever looks is not counted, nor is one who sleeps";
}

TEST(ThreadLoad, ThreadsComeAndGo) {
  const Recorded proc;
  proc.thread(40, 40, "7000000000 0 12\n");
  proc.thread(60, 60, "9000000000 0 1\n");
  const auto before = proc.look();
  proc.remove("proc/40");
  proc.thread(70, 70, "100000000 20000000 1\n");  // began meanwhile
  proc.thread(60, 60, "50000000 0 1\n");          // another thread with an old id
  proc.thread(80, 80, "garbage\n");
  const auto wanted = cores_wanted(before, proc.look(), Seconds{0.2}, 1);
  EXPECT_NEAR(wanted.used, 0.5 + 0.25, 1e-9);
  EXPECT_NEAR(wanted.in_line, 0.1, 1e-9);
  EXPECT_EQ(cores_wanted(before, before, Seconds{0.2}, 1).all(), 0);
  EXPECT_EQ(cores_wanted(before, proc.look(), Seconds{0}, 1).all(), 0) << "no time has passed";
}

TEST(ThreadLoad, AKernelThatDoesNotCountSaysNothing) {
  const Recorded proc;
  proc.write("proc/40/task/40/stat", "40 (x) R\n");
  EXPECT_FALSE(thread_times(proc.root() / "proc"));
  EXPECT_FALSE(thread_times(proc.root() / "nowhere"));
}

TEST(ThreadLoad, ThisProcessIsThere) {
  const auto times = thread_times();
  if (!times) GTEST_SKIP() << "this kernel does not count";
  ASSERT_TRUE(times->contains(::getpid()));
  EXPECT_EQ(times->at(::getpid()).process, ::getpid());
}

}  // namespace
}  // namespace tandem::platform
