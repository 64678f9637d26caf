#include "server/http/json_body.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "server/http/http_message.h"

namespace tandem::server {
namespace {

std::string trouble(const std::string& text, std::size_t nesting = 64) {
  try {
    parse_json_body(text, nesting);
    return "";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status, 400);
    return refusal.what();
  }
}

TEST(JsonBody, WhatIsRight) {
  EXPECT_EQ(parse_json_body(R"({"a": [1, {"a": 2}, {"a": 3}], "b": null})")["a"][2]["a"], 3);
  EXPECT_EQ(parse_json_body("7"), 7);
}

TEST(JsonBody, WhatIsNot) {
  EXPECT_NE(trouble("").find("not JSON"), std::string::npos);
  EXPECT_NE(trouble("{\"a\": 1,\n}").find("line 2"), std::string::npos);
  EXPECT_NE(trouble("{} x"), "");
  EXPECT_NE(trouble("\"\xff\""), "");
  EXPECT_NE(trouble(std::string("\0", 1)), "");
  EXPECT_NE(trouble("[1e999]"), "");
  EXPECT_NE(trouble("NaN"), "");
}

TEST(JsonBody, KeysGivenTwice) {
  EXPECT_NE(trouble(R"({"a": 1, "b": {"a": 2}, "a": 3})").find("'a' twice"), std::string::npos);
  EXPECT_NE(trouble(R"([{"x": 1}, {"x": 1, "\u0078": 2}])").find("'x' twice"), std::string::npos);
}

TEST(JsonBody, DepthHasABound) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(trouble(nested(64)), "");
  EXPECT_NE(trouble(nested(65)).find("deeper than 64"), std::string::npos);
  EXPECT_NE(trouble(std::string(1 << 20, '[')).find("deeper"), std::string::npos);
  EXPECT_NE(trouble(nested(3), 2), "");
}

TEST(JsonBody, AnyBytesAreReadOrRefused) {
  Random random(2);
  const std::string alphabet("{}[]\",:\\u0e-+.1antrue \xc3\xff\0", 26);
  int good = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    while (random.below(10) != 0) text += alphabet[random.below(alphabet.size())];
    good += trouble(text).empty();
  }
  EXPECT_GT(good, 0);
}

}  // namespace
}  // namespace tandem::server
