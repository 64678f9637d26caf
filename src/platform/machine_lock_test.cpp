#include "platform/machine_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  EXPECT_THROW(MachineLock::take(folder.path() / "machine.lock", "x"), UserError);
}

TEST(MachineLock, AnotherUsersFileOrFolderIsRefusedAndLeftAsItIs) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "machine.lock";
  std::ofstream(file) << "precious";
  ::chmod(file.c_str(), 0666);
  EXPECT_THROW(MachineLock::take(file, "x"), UserError);
  EXPECT_EQ(std::filesystem::file_size(file), 8u);
  std::filesystem::remove(file);
  ::chmod(folder.path().c_str(), 0777);
  EXPECT_THROW(MachineLock::take(file, "x"), UserError);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ::chmod(folder.path().c_str(), 0700);
  ASSERT_EQ(::chown(folder.path().c_str(), 65534, 65534), 0);
  try {
    MachineLock::take(file, "x");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("belongs to user 65534"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("TANDEM_RUNTIME_DIR"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Puts the variables back.
class Variables {
 public:
  Variables(std::initializer_list<std::pair<const char*, std::string>> wanted) {
    for (const auto& [name, value] : wanted) {
      const char* was = std::getenv(name);
      former_.emplace_back(name, was ? std::optional<std::string>(was) : std::nullopt);
      ::setenv(name, value.c_str(), 1);
    }
  }
  ~Variables() {
    for (const auto& [name, was] : former_)
      if (was)
        ::setenv(name, was->c_str(), 1);
      else
        ::unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> former_;
};

TEST(MachineLock, WhereANeighbourWasFirstItIsInOnesHome) {
  const TemporaryFolder shared, home;
  const Variables variables{{"TANDEM_RUNTIME_DIR", ""}, {"XDG_RUNTIME_DIR", ""}, {"HOME", home.path()}};
  const auto usual = shared.path() / ("tandem-" + std::to_string(::getuid()));
  EXPECT_EQ(MachineLock::default_file(shared.path()).parent_path(), usual);
  ASSERT_TRUE(MachineLock::take(MachineLock::default_file(shared.path()), "x"));
  EXPECT_EQ(MachineLock::default_file(shared.path()).parent_path(), usual) << "it is there, and ours";
  std::filesystem::remove_all(usual);
  const auto expect_at_home = [&] {
    const auto file = MachineLock::default_file(shared.path());
    EXPECT_TRUE(file.string().starts_with(home.path().string() + "/")) << file;
    EXPECT_TRUE(MachineLock::take(file, "x"));
    MachineQueue queue(file);
    EXPECT_TRUE(queue.take("x"));
  };
  std::filesystem::create_directory_symlink(home.path(), usual);
  expect_at_home();
  std::filesystem::remove(usual);
  std::ofstream{usual} << "a file";
  expect_at_home();
  std::filesystem::remove(usual);
  const Variables homeless{{"HOME", (shared.path() / "nowhere").string()}};
  std::filesystem::create_directory_symlink(home.path(), usual);
  EXPECT_THROW(MachineLock::take(MachineLock::default_file(shared.path()), "x"), UserError);
  std::filesystem::remove(usual);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const Variables again{{"HOME", home.path()}};
  std::filesystem::create_directory(usual);
  ASSERT_EQ(::chown(usual.c_str(), 65534, 65534), 0);
  expect_at_home();
  EXPECT_TRUE(std::filesystem::is_empty(usual)) << "what is another's is left as it is";
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

// A neighbour makes /tmp/tandem-UID first and links its queue to our home: .bashrc and .netrc sort before
// every ticket.
TEST(MachineQueue, ALinkedQueueIsRefusedAndNothingBehindItIsRemoved) {
  const TemporaryFolder folder, home;
  const auto file = folder.path() / "machine.lock";
  for (const char* name : {".bashrc", ".netrc", "00-notes"}) std::ofstream(home.path() / name) << "precious";
  std::filesystem::create_directory_symlink(home.path(), folder.path() / "queue");
  EXPECT_THROW(MachineQueue(file).take("a"), UserError);
  std::filesystem::remove(folder.path() / "queue");
  std::filesystem::create_directory(folder.path() / "queue");
  ::chmod((folder.path() / "queue").c_str(), 01777);
  EXPECT_THROW(MachineQueue(file).take("a"), UserError) << "others could put tickets there";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(home.path()), {}), 3);
}

TEST(MachineQueue, OnlyTicketsAreEverRemoved) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "machine.lock";
  MachineQueue queue(file);
  const std::string dead = "00000000000000000001-1";
  for (const auto& name : {std::string(".bashrc"), std::string("00-notes"), std::string("-1"), dead,
                           dead + "x", dead.substr(0, 21), dead + "0000000000"})
    std::ofstream(folder.path() / "queue" / name) << "left by somebody";
  EXPECT_TRUE(queue.take("a"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() / "queue"), {}), 7)
      << "all but the ticket of the dead, and our own";
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "queue" / dead));
}

}  // namespace
}  // namespace tandem::platform
