#include "platform/plain_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::platform {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  return read_plain(file, 1 << 20).value_or("(none)");
}

TEST(PlainFile, AFileIsReadAndAMissingOneIsNone) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "a") << "hello";
  EXPECT_EQ(read_plain(folder.path() / "a", 5), "hello");
  EXPECT_EQ(read_plain(folder.path() / "a", 4), std::nullopt);
  EXPECT_EQ(read_plain(folder.path() / "b", 5), std::nullopt);
  EXPECT_FALSE(open_plain(folder.path(), "no/such", O_RDONLY));
}

// Without O_NONBLOCK these wait for ever.
TEST(PlainFile, APipeIsRefusedAtOnce) {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(open_plain(folder.path(), "pipe", O_RDONLY), SystemError);
  EXPECT_THROW(open_plain(folder.path(), "pipe", O_WRONLY | O_APPEND | O_CREAT), SystemError);
}

TEST(PlainFile, NoLinkIsFollowedToAFileOrThroughAFolder) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "elsewhere");
  std::ofstream(folder.path() / "elsewhere/file") << "secret";
  fs::create_symlink(folder.path() / "elsewhere", folder.path() / "task");
  fs::create_symlink(folder.path() / "elsewhere/file", folder.path() / "link");
  EXPECT_THROW(open_plain(folder.path(), "link", O_RDONLY), SystemError);
  EXPECT_THROW(open_plain(folder.path(), "task/file", O_RDONLY), SystemError);
  EXPECT_TRUE(open_plain(folder.path(), "elsewhere/file", O_RDONLY));
}

TEST(PlainFile, ALogReplacesWhatIsNoPlainFileOfItsOwn) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "precious") << "precious";
  fs::create_symlink(folder.path() / "precious", folder.path() / "link");
  fs::create_hard_link(folder.path() / "precious", folder.path() / "second");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  const auto at = open_plain_folder(folder.path(), "");
  for (const char* name : {"link", "second", "pipe", "new"}) {
    const auto log = open_plain_log(at, name);
    ASSERT_TRUE(log) << name;
    EXPECT_EQ(::write(log.get(), "log", 3), 3);
    EXPECT_EQ(content(folder.path() / name), "log") << name;
  }
  EXPECT_EQ(content(folder.path() / "precious"), "precious");
  const auto more = open_plain_log(at, "new");
  EXPECT_EQ(::write(more.get(), "ger", 3), 3);
  EXPECT_EQ(content(folder.path() / "new"), "logger");
}

TEST(PlainFile, ATreeIsCopiedWithoutWaitingAndWithoutFollowing) {
  const TemporaryFolder folder;
  const auto from = folder.path() / "from", to = folder.path() / "to";
  fs::create_directories(from / "inner");
  std::ofstream(from / "inner/weights") << std::string(200'000, 'w');
  std::ofstream(from / "output.log") << "printed";
  std::ofstream(folder.path() / "secret") << "secret";
  fs::create_symlink(folder.path() / "secret", from / "link");
  fs::create_symlink("inner", from / "newest");
  ASSERT_EQ(::mkfifo((from / "pipe").c_str(), 0600), 0);
  copy_plain_tree(from, to, [](const std::string& name) { return name != "output.log"; });
  EXPECT_EQ(content(to / "inner/weights"), std::string(200'000, 'w'));
  EXPECT_TRUE(fs::is_symlink(to / "link"));
  EXPECT_EQ(fs::read_symlink(to / "newest"), "inner");
  EXPECT_FALSE(fs::exists(to / "pipe"));
  EXPECT_FALSE(fs::exists(to / "output.log"));
  EXPECT_THROW(copy_plain_tree(from, to, {}), SystemError);
}

// A checkpoint may be a file of a terabyte with a page of data in it.
TEST(PlainFile, HolesOfAFileStayHoles) {
  const TemporaryFolder folder;
  const auto from = folder.path() / "from", to = folder.path() / "to";
  fs::create_directories(from);
  const off_t middle = off_t{512} << 20, size = off_t{1} << 30;
  {
    const Descriptor file(::open((from / "weights").c_str(), O_WRONLY | O_CREAT, 0600));
    ASSERT_EQ(::pwrite(file.get(), "begin", 5, 0), 5);
    ASSERT_EQ(::pwrite(file.get(), "middle", 6, middle), 6);
    ASSERT_EQ(::ftruncate(file.get(), size), 0);
  }
  struct stat about {};
  ASSERT_EQ(::stat((from / "weights").c_str(), &about), 0);
  if (about.st_blocks > 4096) GTEST_SKIP() << "this file system makes no holes";
  copy_plain_tree(from, to, {});
  ASSERT_EQ(::stat((to / "weights").c_str(), &about), 0);
  EXPECT_EQ(about.st_size, size);
  EXPECT_LT(about.st_blocks, 4096) << "in units of 512 bytes";
  const Descriptor copied(::open((to / "weights").c_str(), O_RDONLY));
  std::string found(6, ' ');
  ASSERT_EQ(::pread(copied.get(), found.data(), 6, middle), 6);
  EXPECT_EQ(found, "middle");
  ASSERT_EQ(::pread(copied.get(), found.data(), 5, 0), 5);
  EXPECT_EQ(found, "begine");
}

TEST(PlainFile, WhatTheDiskHasNoRoomForIsNotBegun) {
  const TemporaryFolder folder;
  const auto from = folder.path() / "from", disk = folder.path() / "disk";
  fs::create_directories(from);
  fs::create_directories(disk);
  std::ofstream(from / "weights") << std::string(24 << 20, 'w');
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=20m") != 0) GTEST_SKIP() << "needs root, for a small disk";
  EXPECT_THROW(copy_plain_tree(from, disk / "to", {}), SystemError);
  const bool left = fs::exists(disk / "to/weights");
  ::umount(disk.c_str());
  EXPECT_FALSE(left);
}

}  // namespace
}  // namespace tandem::platform
