#include "runtime/local/leftovers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "platform/process_tree.h"
#include "platform/temporary.h"

namespace tandem::local {
namespace {

class Leftovers : public testing::Test {
 protected:
  // A child in a session of its own, as a crash would leave it.
  platform::Child sleeper() {
    platform::Child child;
    child.pid = ::fork();
    if (child.pid == 0) {
      ::setsid();
      ::execlp("sleep", "sleep", "1000", nullptr);
      ::_exit(127);
    }
    while (::getsid(child.pid) != child.pid) ::usleep(100);
    child.started = platform::start_time_of(child.pid);
    return child;
  }
  void reap(const platform::Child& child) {
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
  }
  platform::TemporaryFolder folder_;
};

TEST_F(Leftovers, AreEndedByNumberAndStartTime) {
  auto child = sleeper();
  remember_process(folder_.path(), "x", "", 0, {}, child);
  EXPECT_TRUE(has_leftovers(folder_.path()));
  const auto reaped = reap_leftovers(folder_.path());
  EXPECT_EQ(reaped.processes, 1U);
  EXPECT_TRUE(reaped.alive.empty());
  EXPECT_EQ(platform::start_time_of(child.pid), 0);
  EXPECT_FALSE(has_leftovers(folder_.path()));
  reap(child);
}

TEST_F(Leftovers, ANumberThatIsSomebodyElsesByNowIsLeftAlone) {
  auto other = sleeper();
  auto was = platform::Child{};
  was.pid = was.keeper = other.pid;
  was.started = was.keeper_started = platform::start_time_of(other.pid) - 1;
  remember_process(folder_.path(), "x", "", 0, {}, was);
  EXPECT_FALSE(reap_leftovers(folder_.path()).any());
  EXPECT_NE(platform::start_time_of(other.pid), 0);
  EXPECT_FALSE(has_leftovers(folder_.path())) << "nothing of it is left, so nobody need look again";
  reap(other);
}

TEST_F(Leftovers, OfASessionAreEndedThoughItsLeaderIsGone) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  platform::Child gone;
  gone.keeper = ::fork();
  if (gone.keeper == 0) {
    ::setsid();
    const pid_t left = ::fork();
    if (left == 0) ::execlp("env", "env", "-i", "sleep", "1000", nullptr);
    [[maybe_unused]] auto told = ::write(ends[1], &left, sizeof(left));
    ::pause();
  }
  pid_t left = 0;
  ASSERT_EQ(::read(ends[0], &left, sizeof(left)), static_cast<ssize_t>(sizeof(left)));
  ::close(ends[0]), ::close(ends[1]);
  gone.keeper_started = platform::start_time_of(gone.keeper);
  remember_process(folder_.path(), "x", "", 0, {}, gone);
  ::kill(gone.keeper, SIGKILL);
  ::waitpid(gone.keeper, nullptr, 0);
  ASSERT_NE(platform::start_time_of(left), 0);
  EXPECT_EQ(reap_leftovers(folder_.path()).processes, 1U);
  EXPECT_EQ(platform::start_time_of(left), 0);
}

// Its keeper and Tandem were killed together, and it has left session, group, parent and environment.
TEST_F(Leftovers, OfATagAreEndedThoughTheyLeftTheirSession) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  platform::Launch program;
  program.arguments = {"/bin/sh", "-c", "env -i setsid setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000"};
  program.tag = platform::new_tag();
  program.output = ends[1];
  auto gone = platform::launch(program);
  ASSERT_EQ(platform::open_gate(gone), 0);
  char text[32] = {};
  ASSERT_GT(::read(ends[0], text, sizeof(text) - 1), 0);
  ::close(ends[0]), ::close(ends[1]);
  const pid_t away = std::atoi(text);
  auto other = sleeper();
  ASSERT_GT(away, 1);
  remember_process(folder_.path(), "x", "", program.tag, {}, gone);
  ::kill(gone.pid, SIGKILL);
  platform::reap(gone);
  ASSERT_NE(platform::start_time_of(away), 0);
  EXPECT_GE(reap_leftovers(folder_.path()).processes, 1U);
  EXPECT_EQ(platform::start_time_of(away), 0);
  EXPECT_NE(platform::start_time_of(other.pid), 0);
  EXPECT_NE(program.tag, platform::new_tag());
  reap(other);
}

TEST_F(Leftovers, AHalfWrittenOrForeignFileHarmsNobody) {
  std::filesystem::create_directories(folder_.path() / "processes");
  std::ofstream(folder_.path() / "processes/a.json.new") << "{";
  std::ofstream(folder_.path() / "processes/b.json") << "not JSON";
  std::ofstream(folder_.path() / "processes/c.json") << R"({"pid":"x","cgroups":[1]})";
  EXPECT_FALSE(reap_leftovers(folder_.path()).any());
  EXPECT_FALSE(has_leftovers(folder_.path()));
}

}  // namespace
}  // namespace tandem::local
