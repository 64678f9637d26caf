#include "platform/machine_lock.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tandem::platform
