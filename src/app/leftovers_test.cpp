#include "app/leftovers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/process.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

// Runs of a store, each with a process that its Tandem left behind.
class LeftoversOfAStore : public testing::Test {
 protected:
  ~LeftoversOfAStore() override {
    for (const pid_t pid : left_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  std::string run_with_a_process() {
    const auto run = store_.create_run("train", "x", "{}", Seconds{1});
    platform::Child child;
    child.pid = ::fork();
    if (child.pid == 0) {
      ::setsid();
      ::execlp("sleep", "sleep", "1000", nullptr);
      ::_exit(127);
    }
    left_.push_back(child.pid);
    child.started = platform::start_time_of(child.pid);
    local::remember_process(store_.run_folder(run.id), "task", "", 0, {}, child);
    return run.id;
  }
  bool lives(std::size_t n) const { return platform::start_time_of(left_[n]) != 0; }

  platform::TemporaryFolder folder_{"tandem-leftovers"};
  store::Store store_{folder_.path() / "store"};
  std::vector<pid_t> left_;
};

TEST_F(LeftoversOfAStore, AreEndedRunByRunAndSaid) {
  store_.create_run("train", "clean", "{}", Seconds{1});
  const auto run = run_with_a_process();
  const auto found = reap_leftovers(store_);
  ASSERT_EQ(found.size(), 1U) << "a run that left nothing is not spoken of";
  EXPECT_EQ(found[0].run, run);
  EXPECT_FALSE(lives(0));
  EXPECT_EQ(text(found[0]), "ended what run " + run + " left: 1 process and 0 cgroups");
  EXPECT_TRUE(reap_leftovers(store_).empty()) << "once";
}

TEST_F(LeftoversOfAStore, ARunThatIsAtWorkKeepsItsProcesses) {
  const auto at_work = run_with_a_process();
  run_with_a_process();
  const auto lock = store::RunLock::take(store_.run_folder(at_work));
  EXPECT_EQ(reap_leftovers(store_).size(), 1U);
  EXPECT_TRUE(lives(0));
  EXPECT_FALSE(lives(1));
}

TEST_F(LeftoversOfAStore, WhatCouldNotBeEndedIsNamedByItsNumber) {
  EXPECT_EQ(text({"r1", {2, 1, {12, 13}}}),
            "ended what run r1 left: 2 processes and 1 cgroup; could not end 12 13");
}

}  // namespace
}  // namespace tandem::app
