#include "measure/process_groups.h"

#include <gtest/gtest.h>

#include "measure/fake_proc.h"

namespace tandem::measure {
namespace {

using Pids = std::vector<std::int64_t>;

struct Groups : testing::Test {
  FakeProc proc;
  ProcessGroups groups{platform::ProcFs(proc.root())};
};

TEST_F(Groups, TheGroupAndTheChildrenThatLeftIt) {
  proc.process({.pid = 100, .group = 100});
  proc.process({.pid = 5, .group = 5});
  groups.add(1, 100);
  proc.process({.pid = 101, .parent = 1, .group = 100});  // an orphan of the group
  proc.process(
      {.pid = 50, .parent = 101, .group = 50});  // its child, in a session of its own, with a lower number
  proc.process({.pid = 102, .parent = 50, .group = 50});
  groups.refresh();
  EXPECT_EQ(groups.members(1), (Pids{50, 100, 101, 102}));
  EXPECT_EQ(groups.members(2), Pids{});
}

TEST_F(Groups, AMemberStaysOneAfterItsParentEnded) {
  proc.process({.pid = 100, .group = 100});
  groups.add(1, 100);
  proc.process({.pid = 101, .parent = 100, .group = 101});
  groups.refresh();
  proc.end(100);
  proc.process({.pid = 101, .parent = 1, .group = 101});
  groups.refresh();
  EXPECT_EQ(groups.members(1), Pids{101});
}

TEST_F(Groups, ANumberUsedAgainIsAnotherProcess) {
  proc.process({.pid = 100, .group = 100});
  groups.add(1, 100);
  proc.process({.pid = 101, .parent = 100, .group = 100, .started = 1001});
  groups.refresh();
  proc.process({.pid = 101, .parent = 1, .group = 7, .started = 2002});
  groups.refresh();
  EXPECT_EQ(groups.members(1), Pids{100});
}

TEST_F(Groups, AStrangerBecomesATaskWhenItIsAdded) {
  proc.process({.pid = 100, .group = 7});
  groups.refresh();
  groups.add(3, 100);
  EXPECT_EQ(groups.members(3), Pids{100});
  groups.remove(3);
  EXPECT_EQ(groups.members(3), Pids{});
}

TEST_F(Groups, StrangersAreLookedAtAgain) {
  proc.process({.pid = 100, .group = 100});
  groups.add(1, 100);
  proc.process({.pid = 60, .group = 6});
  groups.refresh();
  proc.process({.pid = 60, .group = 100});
  for (int i = 0; i < 30; ++i) groups.refresh();
  EXPECT_EQ(groups.members(1), (Pids{60, 100}));
}

}  // namespace
}  // namespace tandem::measure
