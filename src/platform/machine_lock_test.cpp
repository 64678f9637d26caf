#include "platform/machine_lock.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::platform {
namespace {

TEST(MachineLock, OneOwnerAtATimeAndOthersLearnWho) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "locks/machine.lock";
  {
    const auto first = MachineLock::take(file, "run a (pid 1)");
    ASSERT_TRUE(first);
    std::string owner;
    EXPECT_FALSE(MachineLock::take(file, "run b (pid 2)", &owner));
    EXPECT_EQ(owner, "run a (pid 1)");
  }
  EXPECT_TRUE(MachineLock::take(file, "run b (pid 2)"));
}

TEST(MachineLock, ALinkInItsPlaceIsNotFollowed) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "machine.lock");
  EXPECT_THROW(MachineLock::take(folder.path() / "machine.lock", "x"), SystemError);
}

TEST(MachineQueue, FirstComeFirstServedAndTheDeadDoNotBlock) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "locks/machine.lock";
  MachineQueue first(file);
  auto second = std::make_unique<MachineQueue>(file);
  MachineQueue third(file);
  EXPECT_FALSE(second->take("b")) << "the machine is free, but it is not its turn";
  {
    const auto lock = first.take("a");
    ASSERT_TRUE(lock);
    std::string owner;
    EXPECT_FALSE(third.take("c", &owner));
    EXPECT_EQ(owner, "runs that came before this one");
  }
  std::ofstream(file.parent_path() / "queue/00000000000000000001-1") << "left by a process that was killed";
  EXPECT_TRUE(first.take("a"));
  { MachineQueue gives_up(file); }
  second.reset();
  EXPECT_FALSE(third.take("c")) << "the first is still queueing";
}

}  // namespace
}  // namespace tandem::platform
