#include "server/user_jobs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/complaint_for_test.h"
#include "platform/temporary.h"

namespace tandem::server {
namespace {
namespace fs = std::filesystem;

constexpr uid_t kOther = 64'123;

// A store as it was made before there were other users: all may read all of it.
class UserJobs : public testing::Test {
 protected:
  UserJobs() {
    for (const auto& run : {run_, store_ / "runs/r2"}) fs::create_directories(run / "task-0");
    for (const auto& file : {store_ / "tandem.db", run_ / "snapshot", run_ / "task-0/output.log"}) {
      std::ofstream(file) << "x";
      set(file, 0644);
    }
    for (const auto& folder : {store_, store_ / "runs", run_, store_ / "runs/r2"}) set(folder, 0755);
    set(folder_.path(), 0711);
  }
  static void set(const fs::path& path, mode_t mode) { ASSERT_EQ(::chmod(path.c_str(), mode), 0); }
  static mode_t mode(const fs::path& path) {
    struct stat about {};
    EXPECT_EQ(::stat(path.c_str(), &about), 0) << path;
    return about.st_mode & 07777;
  }

  platform::TemporaryFolder folder_{"tandem-user-jobs"};
  fs::path store_ = folder_.path() / "store", run_ = store_ / "runs/r1";
};

TEST_F(UserJobs, UsersPassThroughAndReadNothingElse) {
  set(store_ / "tandem.db", 0744);
  fs::create_symlink("/nowhere", store_ / "link");
  open_way(store_, run_, platform::Credentials::of(::geteuid()));
  for (const auto& way : {store_, store_ / "runs", run_}) EXPECT_EQ(mode(way), 0711U) << way;
  EXPECT_EQ(mode(store_ / "tandem.db"), 0700U) << "what its owner may do stays";
  EXPECT_EQ(mode(run_ / "snapshot"), 0600U);
  EXPECT_EQ(mode(store_ / "runs/r2"), 0700U) << "another server's";
  EXPECT_EQ(mode(run_ / "task-0"), 0700U) << "until its task is given it";
  EXPECT_EQ(mode(run_ / "task-0/output.log"), 0644U) << "nobody gets there";
}

TEST_F(UserJobs, WhatWasOpenedOnceStaysAsItIs) {
  const auto user = platform::Credentials::of(::geteuid());
  open_way(store_, run_, user);
  set(run_ / "task-0", 0755);  // a task's by now
  open_way(store_, run_, user);
  EXPECT_EQ(mode(run_ / "task-0"), 0755U);
}

TEST_F(UserJobs, AStoreThatIsNotThereIsSaid) {
  EXPECT_THROW(open_way(folder_.path() / "none", folder_.path() / "none/runs/r1", platform::Credentials::of(::geteuid())),
               SystemError);
}

TEST_F(UserJobs, AStoreThatUsersCannotReachIsRefusedWithAnotherPlace) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can look as another user";
  const auto user = platform::Credentials::of(kOther);
  open_way(store_, run_, user);
  EXPECT_TRUE(platform::may_enter(user, run_));
  EXPECT_FALSE(platform::may_enter(user, store_ / "runs/r2"));
  set(folder_.path(), 0700);
  const auto why = complaint([&] { open_way(store_, run_, user); });
  EXPECT_TRUE(mentions(why, "--store in a folder that users can pass")) << why;
  EXPECT_TRUE(mentions(why, store_.string())) << why;
}

}  // namespace
}  // namespace tandem::server
