#include "platform/trusted_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::platform {
namespace {

namespace fs = std::filesystem;
using Sharing = TrustedFolder::Sharing;

constexpr uid_t kNobody = 65534;

std::string refusal(const std::function<void()>& act) {
  try {
    act();
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

std::string refusal_to_open(const fs::path& path, Sharing sharing) {
  return refusal([&] { TrustedFolder::open(path, sharing, "choose another"); });
}

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

class TrustedFolderTest : public testing::Test {
 protected:
  TrustedFolder open() const {
    return TrustedFolder::open(folder_.path(), Sharing::exclusive, "choose another");
  }
  std::string refusal_of_file(int flags = O_RDWR | O_CREAT) const {
    return refusal([&] { open().open_file("f", flags); });
  }
  TemporaryFolder folder_;
  const fs::path file_ = folder_.path() / "f";
};

TEST_F(TrustedFolderTest, IsMadeForItsOwnerAloneButItsParentsAreNot) {
  TrustedFolder::open(folder_.path() / "new", Sharing::exclusive, "").inside("queue");
  EXPECT_EQ(mode_of(folder_.path() / "new"), 0700u);
  EXPECT_EQ(mode_of(folder_.path() / "new/queue"), 0700u);
  EXPECT_THROW(TrustedFolder::open(folder_.path() / "a/b", Sharing::exclusive, ""), SystemError);
}

TEST_F(TrustedFolderTest, OneThatOthersMayWriteIsRefusedUnlessItIsStickyAndMayBeShared) {
  for (const mode_t mode : {0770, 0707, 01777}) {
    ::chmod(folder_.path().c_str(), mode);
    const auto why = refusal_to_open(folder_.path(), Sharing::exclusive);
    EXPECT_NE(why.find("chmod go-w"), std::string::npos) << why;
    EXPECT_NE(why.find("choose another"), std::string::npos) << why;
    EXPECT_EQ(mode_of(folder_.path()), mode) << "it is left as it is";
    EXPECT_EQ(refusal_to_open(folder_.path(), Sharing::sticky).empty(), mode == 01777) << mode;
  }
}

TEST_F(TrustedFolderTest, AnotherUsersIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(folder_.path().c_str(), kNobody, kNobody), 0);
  for (const auto sharing : {Sharing::exclusive, Sharing::sticky})
    EXPECT_NE(refusal_to_open(folder_.path(), sharing).find("belongs to user 65534"), std::string::npos);
}

TEST_F(TrustedFolderTest, ALinkIsNotFollowed) {
  fs::create_directory(folder_.path() / "real");
  fs::create_directory_symlink(folder_.path() / "real", folder_.path() / "link");
  EXPECT_NE(refusal_to_open(folder_.path() / "link", Sharing::exclusive).find("is a link"),
            std::string::npos);
  EXPECT_NE(refusal([&] { open().inside("link"); }).find("is a link"), std::string::npos);
  EXPECT_EQ(refusal([&] { open().inside("real"); }), "");
}

TEST_F(TrustedFolderTest, FilesAreMadeForTheirOwnerAlone) {
  const auto folder = open();
  EXPECT_FALSE(folder.open_file("f", O_RDWR)) << "it is not there";
  EXPECT_TRUE(folder.open_file("f", O_RDWR | O_CREAT));
  EXPECT_EQ(mode_of(file_), 0600u);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"f"});
  folder.remove("f");
  folder.remove("f");
  EXPECT_TRUE(folder.names().empty());
}

TEST_F(TrustedFolderTest, StaysTheSameFolderWhateverIsPutInItsPlace) {
  const auto folder = TrustedFolder::open(folder_.path() / "one", Sharing::exclusive, "");
  fs::rename(folder_.path() / "one", folder_.path() / "moved");
  fs::create_directory(folder_.path() / "one");
  EXPECT_TRUE(folder.open_file("f", O_RDWR | O_CREAT));
  EXPECT_TRUE(fs::exists(folder_.path() / "moved/f"));
}

TEST_F(TrustedFolderTest, WhatIsNoPlainFileIsRefusedAndNotWaitedFor) {
  std::ofstream(folder_.path() / "precious") << "precious";
  fs::create_symlink(folder_.path() / "precious", file_);
  EXPECT_NE(refusal_of_file().find("not a plain file"), std::string::npos);
  fs::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_NE(refusal_of_file(O_RDONLY).find("not a plain file"), std::string::npos);
  EXPECT_NE(refusal_of_file(O_WRONLY).find("not a plain file"), std::string::npos);
  fs::remove(file_);
  fs::create_directory(file_);
  EXPECT_NE(refusal_of_file().find("not a plain file"), std::string::npos);
}

TEST_F(TrustedFolderTest, AFileOthersMayWriteOrOwnOrThatHasAnotherNameIsRefused) {
  std::ofstream(file_) << "x";
  ::chmod(file_.c_str(), 0620);
  EXPECT_NE(refusal_of_file().find("may be written by others (mode 0620)"), std::string::npos);
  ::chmod(file_.c_str(), 0600);
  fs::create_hard_link(file_, folder_.path() / "other");
  EXPECT_NE(refusal_of_file().find("another name"), std::string::npos);
  fs::remove(folder_.path() / "other");
  EXPECT_EQ(refusal_of_file(), "");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(file_.c_str(), kNobody, kNobody), 0);
  EXPECT_NE(refusal_of_file(O_RDWR).find("belongs to user 65534"), std::string::npos);
}

// Puts the variable back.
class RuntimeVariable {
 public:
  explicit RuntimeVariable(const fs::path& value) {
    if (const char* was = std::getenv("XDG_RUNTIME_DIR")) former_ = was;
    ::setenv("XDG_RUNTIME_DIR", value.c_str(), 1);
  }
  ~RuntimeVariable() {
    if (former_)
      ::setenv("XDG_RUNTIME_DIR", former_->c_str(), 1);
    else
      ::unsetenv("XDG_RUNTIME_DIR");
  }

 private:
  std::optional<std::string> former_;
};

TEST_F(TrustedFolderTest, TheRuntimeFolderIsUsedOnlyWhereItIsOurs) {
  const auto real = fs::canonical(folder_.path());
  fs::create_directory_symlink(real, folder_.path() / "link");
  EXPECT_EQ((RuntimeVariable(folder_.path() / "link"), own_runtime_folder()), real);
  EXPECT_FALSE((RuntimeVariable(""), own_runtime_folder()));
  EXPECT_FALSE((RuntimeVariable(folder_.path() / "none"), own_runtime_folder()));
  ::chmod(folder_.path().c_str(), 0777);
  EXPECT_FALSE((RuntimeVariable(folder_.path()), own_runtime_folder()));
  ::chmod(folder_.path().c_str(), 0700);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(folder_.path().c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE((RuntimeVariable(folder_.path()), own_runtime_folder())) << "as after sudo -E";
}

}  // namespace
}  // namespace tandem::platform
