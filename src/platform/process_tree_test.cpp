#include "platform/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "platform/process.h"

namespace tandem::platform {
namespace {

// For ever, but for a test that never came to its end.
[[noreturn]] void stay() {
  for (::alarm(600);;) ::pause();
}

bool is_in(pid_t pid, const std::vector<pid_t>& all) {
  return std::find(all.begin(), all.end(), pid) != all.end();
}

// Processes that tell their numbers through a pipe, and are gone when the test is over.
class ProcessTree : public testing::Test {
 protected:
  ProcessTree() {
    if (::pipe(ends_) != 0) throw_errno("making a pipe");
  }
  ~ProcessTree() override {
    end_all(told_);
    for (const pid_t pid : own_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    ::close(ends_[0]), ::close(ends_[1]);
  }
  template <class Body>
  pid_t child(Body body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      body();
      stay();
    }
    own_.push_back(pid);
    return pid;
  }
  void tell(pid_t pid) const { [[maybe_unused]] auto told = ::write(ends_[1], &pid, sizeof(pid)); }
  pid_t hear() {
    pid_t pid = -1;
    EXPECT_EQ(::read(ends_[0], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
    told_.push_back(pid);
    return pid;
  }
  // A child, and a child of that in a session of its own: both numbers.
  std::pair<pid_t, pid_t> family() {
    const pid_t parent = child([this] {
      if (::fork() != 0) return;
      ::setsid();
      tell(::getpid());
    });
    return {parent, hear()};
  }
  static bool lives(pid_t pid) { return start_time_of(pid) != 0; }

  int ends_[2] = {-1, -1};
  std::vector<pid_t> own_, told_;
};

TEST_F(ProcessTree, AGrandchildInASessionOfItsOwnIsADescendant) {
  const auto [parent, below] = family();
  const auto ours = descendants(::getpid());
  EXPECT_TRUE(is_in(parent, ours) && is_in(below, ours));
  EXPECT_FALSE(is_in(::getpid(), ours)) << "nobody descends from itself";
  EXPECT_EQ(descendants(parent), std::vector{below});
  EXPECT_TRUE(descendants(below).empty());
  EXPECT_EQ(session_members(below), std::vector{below});
  EXPECT_FALSE(is_in(parent, session_members(below)));
}

TEST_F(ProcessTree, AFamilyIsEndedAndItsRootStays) {
  const auto [parent, below] = family();
  end_descendants(parent);
  while (lives(below)) ::usleep(1000);
  EXPECT_TRUE(lives(parent));
}

TEST_F(ProcessTree, AllAreEndedWithWhatIsBelowThem) {
  const auto [parent, below] = family();
  ASSERT_TRUE(end_all({parent}));
  EXPECT_FALSE(lives(parent));
  while (lives(below)) ::usleep(1000);  // init reaps it
  EXPECT_TRUE(end_all({parent})) << "who is gone already is no failure";
  EXPECT_TRUE(end_all({}));
}

TEST_F(ProcessTree, OneThatIsStoppedIsEndedToo) {
  const auto [parent, below] = family();
  ::kill(below, SIGSTOP);
  ASSERT_TRUE(end_all({parent, below}));
  EXPECT_FALSE(lives(parent) || lives(below));
}

// In a process of its own, to which orphans fall for good: 0 when all is as it should be, else the number of what is not.
int adopts_and_ends() {
  adopt_orphans();
  int ends[2];
  if (::pipe(ends) != 0) return 1;
  const pid_t own = ::fork();
  if (own == 0) {
    ::setsid();
    stay();
  }
  note_own_child(own);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t orphan = ::fork();
    if (orphan == 0) {
      ::setsid();
      [[maybe_unused]] auto told = ::write(ends[1], "x", 1);
      stay();
    }
    ::_exit(0);
  }
  ::waitpid(parent, nullptr, 0);
  char ready = 0;
  if (::read(ends[0], &ready, 1) != 1) return 2;
  const auto fell_here = orphans();
  int wrong = 0;
  if (fell_here.size() != 1 || is_in(own, fell_here)) wrong = 3;
  end_orphans();
  if (!orphans().empty() || (!fell_here.empty() && start_time_of(fell_here[0]) != 0)) wrong = 4;
  if (start_time_of(own) == 0) wrong = 5;
  ::kill(own, SIGKILL);
  ::waitpid(own, nullptr, 0);
  return wrong;
}

TEST_F(ProcessTree, OrphansAreThoseNobodyHereHasStarted) {
  const pid_t adopter = ::fork();
  if (adopter == 0) ::_exit(adopts_and_ends());
  int status = 0;
  ASSERT_EQ(::waitpid(adopter, &status, 0), adopter);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ProcessTree, NumbersHaveAScopeThatStaysAsLongAsTheBoot) {
  const auto scope = pid_scope();
  EXPECT_EQ(scope, pid_scope());
  EXPECT_NE(scope.find(" pid:["), std::string::npos) << scope;
  EXPECT_EQ(scope.find('\n'), std::string::npos);
  EXPECT_GT(scope.find(' '), 0U) << "the boot comes first: " << scope;
}

}  // namespace
}  // namespace tandem::platform
