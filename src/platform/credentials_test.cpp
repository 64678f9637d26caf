#include "platform/credentials.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "platform/descriptor.h"
#include "platform/temporary.h"

namespace tandem::platform {
namespace {

constexpr uid_t kAna = 61001;  // no user of this machine

TEST(Credentials, AUserTheMachineDoesNotKnowIsAloneInItsGroup) {
  const auto ana = Credentials::of(kAna);
  EXPECT_EQ(ana.group, kAna);
  EXPECT_EQ(ana.groups, std::vector<gid_t>{kAna});
  EXPECT_EQ(ana.name, "61001");
  EXPECT_EQ(Credentials::of(0).name, "root");
  EXPECT_EQ(find_user("root"), 0U);
  EXPECT_EQ(find_user("61001"), kAna);
  EXPECT_FALSE(find_user("nobody-is-called-so"));
  EXPECT_FALSE(find_user("4294967295")) << "that number means: leave it as it is";
}

TEST(Credentials, SecretsAreKnownByTheirNames) {
  for (const char* secret :
       {"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "SSH_AUTH_SOCK", "API_KEY", "token"})
    EXPECT_TRUE(looks_secret(secret)) << secret;
  for (const char* plain : {"PATH", "HOME", "KEYBOARD", "TOKENIZERS_PARALLELISM", "MONKEY", "TANDEM_HYPER"})
    EXPECT_FALSE(looks_secret(plain)) << plain;
  ::setenv("CREDENTIALS_TEST_TOKEN", "x", 1);
  const auto has = [](const std::vector<std::string>& variables) {
    return std::find(variables.begin(), variables.end(), "CREDENTIALS_TEST_TOKEN=x") != variables.end();
  };
  EXPECT_FALSE(has(environment_without_secrets({})));
  EXPECT_TRUE(has(environment_without_secrets({"CREDENTIALS_TEST_TOKEN"})));
  EXPECT_FALSE(has(clean_environment(Credentials::of(kAna), "")));
  ::unsetenv("CREDENTIALS_TEST_TOKEN");
}

TEST(Credentials, FilesAreReachedWithTheUsersPermissions) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act for others";
  TemporaryFolder folder;
  const auto secret = folder.path() / "secret", theirs = folder.path() / "theirs";
  Descriptor(::open(secret.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ::mkdir(theirs.c_str(), 0700);
  ASSERT_EQ(::chown(theirs.c_str(), kAna, kAna), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const auto ana = Credentials::of(kAna);
  {
    const FilesAs files(ana);
    EXPECT_FALSE(Descriptor(::open(secret.c_str(), O_RDONLY | O_CLOEXEC)));
    Descriptor made(::open((theirs / "new").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    struct stat about {};
    ASSERT_TRUE(made);
    ASSERT_EQ(::fstat(made.get(), &about), 0);
    EXPECT_EQ(about.st_uid, kAna);
    EXPECT_EQ(about.st_gid, kAna);
  }
  EXPECT_TRUE(Descriptor(::open(secret.c_str(), O_RDONLY | O_CLOEXEC)));
  EXPECT_TRUE(may_enter(ana, theirs.string()));
  EXPECT_FALSE(may_enter(Credentials::of(61002), theirs.string()));
  EXPECT_FALSE(may_enter(ana, (folder.path() / "none").string()));
}

}  // namespace
}  // namespace tandem::platform
