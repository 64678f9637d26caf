#include "server/http/tokens.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::server {
namespace {

class TokenFiles : public testing::Test {
 protected:
  platform::TemporaryFolder folder_{"tandem-tokens"};
  std::filesystem::path at_ = folder_.path() / "tokens";
  Token operators_ = Token::make();
  Tokens tokens_{operators_, at_};
};

TEST_F(TokenFiles, AHolderIsKnownUntilTheTokenIsRevoked) {
  EXPECT_FALSE(tokens_.holder(Token::make().reveal()));
  const Token view = create_token(at_, {"prometheus", Role::view, {}, Seconds{5}});
  const Token submit = create_token(at_, {"ana", Role::submit, 1001, Seconds{6}});
  EXPECT_EQ(tokens_.holder(view.reveal())->role, Role::view);
  EXPECT_FALSE(tokens_.holder(view.reveal())->user);
  EXPECT_EQ(tokens_.holder(submit.reveal())->user, 1001U);
  EXPECT_EQ(tokens_.holder(submit.reveal())->name, "token ana");
  EXPECT_EQ(tokens_.holder(operators_.reveal())->role, Role::operate);
  ASSERT_EQ(list_tokens(at_).size(), 2U);
  EXPECT_EQ(list_tokens(at_)[0].name, "ana");
  EXPECT_DOUBLE_EQ(list_tokens(at_)[0].made.value, 6);
  revoke_token(at_, "ana");
  EXPECT_FALSE(tokens_.holder(submit.reveal())) << "at once";
  EXPECT_TRUE(tokens_.holder(view.reveal()));
  EXPECT_THROW(revoke_token(at_, "ana"), UserError);
}

TEST_F(TokenFiles, OnlyADigestIsKeptInAPrivateFile) {
  const Token token = create_token(at_, {"ana", Role::submit, 1001, Seconds{}});
  struct stat about {};
  ASSERT_EQ(::stat(at_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700U);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(at_)) {
    ++files;
    ASSERT_EQ(::stat(entry.path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600U);
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    EXPECT_EQ((text + entry.path().string()).find(token.reveal()), std::string::npos);
    // Who can change the file could raise its role: it is not believed then.
    ::chmod(entry.path().c_str(), 0660);
  }
  EXPECT_EQ(files, 1);
  EXPECT_FALSE(tokens_.holder(token.reveal()));
}

TEST_F(TokenFiles, OfManyWhoMakeOneOfANameAtOnceOneDoes) {
  for (int round = 0; round < 20; ++round) {
    const std::string name = "ana-" + std::to_string(round);
    std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        try {
          create_token(at_, {name, Role::submit, 1001, Seconds{}});
          ++made;
        } catch (const UserError&) {
        }
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(made, 1) << name;
  }
  EXPECT_EQ(list_tokens(at_).size(), 20U);
}

TEST_F(TokenFiles, NamesAreTakenOnceAndPlain) {
  create_token(at_, {"ana", Role::submit, 1001, Seconds{}});
  EXPECT_THROW(create_token(at_, {"ana", Role::view, {}, Seconds{}}), UserError);
  for (const char* bad : {"", "../x", "a b", "-x", "a\n"})
    EXPECT_THROW(create_token(at_, {bad, Role::view, {}, Seconds{}}), UserError) << bad;
}

TEST_F(TokenFiles, WhatIsNoTokenOpensNothing) {
  create_token(at_, {"ana", Role::operate, 1001, Seconds{}});
  for (const std::string shown : {"", "..", "/etc/passwd", "ana"}) EXPECT_FALSE(tokens_.holder(shown)) << shown;
  for (const auto& entry : std::filesystem::directory_iterator(at_))
    EXPECT_FALSE(tokens_.holder(entry.path().filename().string())) << "the digest itself is no token";
  EXPECT_FALSE(tokens_.holder(std::string(100'000, 'a')));
}

}  // namespace
}  // namespace tandem::server
