#include "server/http/target.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "server/http/http_message.h"

namespace tandem::server {
namespace {

int status(std::string_view written) {
  try {
    parse_target(written);
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

TEST(Target, PathAndQuery) {
  const auto target = parse_target("/v1/jobs/a%20b?limit=5&state=%C3%A4&all");
  EXPECT_EQ(target.parts, (std::vector<std::string>{"v1", "jobs", "a b"}));
  EXPECT_EQ(target.path(), "/v1/jobs/a b");
  EXPECT_EQ(target.query, (std::map<std::string, std::string>{{"limit", "5"}, {"state", "ä"}, {"all", ""}}));
}

TEST(Target, TheRoot) {
  EXPECT_EQ(parse_target("/").path(), "/");
  EXPECT_TRUE(parse_target("/").parts.empty());
  EXPECT_EQ(parse_target("/?a=b").query.at("a"), "b");
}

TEST(Target, NoWayOut) {
  for (const char* bad : {"",        "v1",     "*",      "http://h/v1",    "//",       "/a//b",
                          "/a/",     "/.",     "/..",    "/../etc/passwd", "/a/../b",  "/%2e%2e/x",
                          "/%2E./x", "/a%2fb", "/a%2Fb", "/a%5cb",         "/a\\b",    "/a%00b",
                          "/a%0ab",  "/a%7f",  "/a%",    "/a%4",           "/a%zz",    "/%ff",
                          "/%c3%28", "/a#b",   "/a?=b",  "/a?b=1&b=2",     "/a?b=%00", "/a?&b"})
    EXPECT_EQ(status(bad), 400) << bad;
  EXPECT_EQ(status(std::string_view("/a\0b", 4)), 400);
}

TEST(Target, DotsInsideNamesAreNames) {
  EXPECT_EQ(parse_target("/...").parts.front(), "...");
  EXPECT_EQ(parse_target("/a..b").parts.front(), "a..b");
}

TEST(Target, AnyBytesAreTakenApartOrRefused) {
  Random random(1);
  const std::string alphabet("/.%25eEfF?&=\\#a\0\xff\n ", 20);
  for (int i = 0; i < 100'000; ++i) {
    std::string written = "/";
    while (random.below(12) != 0) written += alphabet[random.below(alphabet.size())];
    if (status(written) != 200) continue;
    for (const auto& part : parse_target(written).parts) {
      EXPECT_TRUE(!part.empty() && part != "." && part != "..") << written;
      EXPECT_EQ(part.find_first_of(std::string_view("/\\\0\n", 4)), std::string::npos) << written;
    }
  }
}

}  // namespace
}  // namespace tandem::server
