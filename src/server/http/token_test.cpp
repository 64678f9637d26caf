#include "server/http/token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::server {
namespace {

namespace fs = std::filesystem;

class TokenFile : public testing::Test {
 protected:
  std::string trouble() const {
    try {
      Token::load_or_create(file_);
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file_) << text;
    ::chmod(file_.c_str(), mode);
  }

  platform::TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "private/token";
};

TEST_F(TokenFile, MadeWhenAbsentPrivateAndKept) {
  const auto token = Token::load_or_create(file_);
  EXPECT_EQ(token.reveal().size(), 64u);
  struct stat info {};
  ASSERT_EQ(::stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_TRUE(Token::load_or_create(file_).matches(token.reveal()));
  EXPECT_TRUE(Token::load(file_).matches(token.reveal()));
  EXPECT_EQ(std::distance(fs::directory_iterator(file_.parent_path()), fs::directory_iterator()), 1)
      << "no draft is left";
}

TEST_F(TokenFile, PrivateWhateverTheUmask) {
  const mode_t before = ::umask(0);
  Token::load_or_create(file_);
  ::umask(before);
  EXPECT_EQ(trouble(), "");
}

TEST_F(TokenFile, ManyAtOnceAgree) {
  fs::create_directory(file_.parent_path());
  std::vector<std::string> seen(8);
  std::vector<std::thread> threads;
  for (auto& one : seen) threads.emplace_back([&] { one = Token::load_or_create(file_).reveal(); });
  for (auto& thread : threads) thread.join();
  for (const auto& one : seen) EXPECT_EQ(one, seen.front());
}

TEST_F(TokenFile, ReadableByOthersIsRefused) {
  fs::create_directory(file_.parent_path());
  for (const mode_t mode : {0644, 0640, 0604, 0620, 0601}) {
    write(Token::make().reveal(), mode);
    EXPECT_NE(trouble().find("chmod 600"), std::string::npos) << std::oct << mode;
  }
}

TEST_F(TokenFile, SomebodyElsesIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  fs::create_directory(file_.parent_path());
  write(Token::make().reveal());
  ASSERT_EQ(::chown(file_.c_str(), 65534, 65534), 0);
  EXPECT_NE(trouble().find("belongs to user 65534"), std::string::npos);
}

TEST_F(TokenFile, WhatIsNoTokenIsRefusedAndNotShown) {
  fs::create_directory(file_.parent_path());
  const std::string secret = Token::make().reveal();
  for (const std::string& text : {std::string(), std::string("\n"), std::string("hunter2hunter2"),
                                  secret + "0", secret.substr(1), secret + "\n\n", "x" + secret.substr(1)}) {
    write(text);
    EXPECT_NE(trouble().find("64 hexadecimal digits"), std::string::npos) << text;
    if (text.size() > 8) {
      EXPECT_EQ(trouble().find(text.substr(0, 8)), std::string::npos);
    }
  }
}

TEST_F(TokenFile, LinksFoldersAndPipesAreRefused) {
  fs::create_directory(file_.parent_path());
  const fs::path real = folder_.path() / "real";
  Token::load_or_create(real);
  fs::create_symlink(real, file_);
  EXPECT_NE(trouble().find("link"), std::string::npos);
  fs::remove(file_);
  fs::create_directory(file_);
  EXPECT_NE(trouble().find("not a plain file"), std::string::npos);
  fs::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_NE(trouble().find("not a plain file"), std::string::npos);
}

TEST_F(TokenFile, AClientDoesNotMakeOne) {
  EXPECT_THROW(Token::load(file_), UserError);
  EXPECT_FALSE(fs::exists(file_));
}

TEST(Token, MatchesItselfOnly) {
  const auto token = Token::make();
  const std::string secret = token.reveal();
  EXPECT_TRUE(token.matches(secret));
  EXPECT_FALSE(token.matches(""));
  EXPECT_FALSE(token.matches(secret.substr(0, 63)));
  EXPECT_FALSE(token.matches(secret + secret)) << "repeats itself";
  EXPECT_FALSE(token.matches(Token::make().reveal()));
  for (std::size_t i = 0; i < secret.size(); ++i) {
    std::string other = secret;
    other[i] ^= 1;
    EXPECT_FALSE(token.matches(other)) << i;
  }
}

}  // namespace
}  // namespace tandem::server
