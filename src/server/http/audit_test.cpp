#include "server/http/audit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::server {
namespace {

using nlohmann::json;

std::vector<json> lines_of(const std::filesystem::path& file) {
  std::vector<json> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) out.push_back(json::parse(line));
  return out;
}

class AuditLog : public testing::Test {
 protected:
  platform::TemporaryFolder folder_{"tandem-audit"};
  std::filesystem::path file_ = folder_.path() / "audit.log";
};

TEST_F(AuditLog, IsPrivateAndHasALineAChange) {
  Audit audit(file_);
  audit.changed({{"who", "user 1"}, {"what", "POST /v1/jobs"}});
  audit.refused({{"who", "user 2\n"}, {"what", "DELETE /v1/jobs/1"}});
  struct stat about {};
  ASSERT_EQ(::stat(file_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
  const auto lines = lines_of(file_);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["who"], "user 1");
  EXPECT_TRUE(lines[1].contains("at"));
}

TEST_F(AuditLog, RefusalsCannotPushChangesOut) {
  Audit audit(file_);
  for (int i = 0; i < 5000; ++i) audit.refused({{"i", i}});
  audit.changed({{"what", "it"}});
  const auto lines = lines_of(file_);
  ASSERT_EQ(lines.size(), Audit::kRefusalsAMinute + 1U);
  EXPECT_EQ(lines.back()["unwritten"], 5000 - Audit::kRefusalsAMinute);
}

TEST_F(AuditLog, BeginsAnewAtASizeAndKeepsSomeBefore) {
  Audit audit(file_, {}, 1000), other(file_, {}, 1000);
  for (int i = 0; i < 400; ++i) (i % 2 ? audit : other).changed({{"i", i}, {"text", std::string(50, 'x')}});
  EXPECT_LE(std::filesystem::file_size(file_), 1200U);
  EXPECT_TRUE(std::filesystem::exists(file_.string() + ".4"));
  EXPECT_FALSE(std::filesystem::exists(file_.string() + ".5"));
  EXPECT_EQ(lines_of(file_).back()["i"], 399);
  int next = lines_of(file_.string() + ".4").front()["i"];
  for (const char* end : {".4", ".3", ".2", ".1", ""})
    for (const auto& line : lines_of(file_.string() + end)) EXPECT_EQ(line["i"], next++);
  EXPECT_EQ(next, 400);
}

TEST_F(AuditLog, WhatOthersCanReadIsRefused) {
  std::ofstream(file_) << "";
  ::chmod(file_.c_str(), 0644);
  EXPECT_THROW(Audit{file_}, UserError);
}

}  // namespace
}  // namespace tandem::server
