#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem {
namespace {

TEST(Json, TextThatIsNoneIsDiscardedAndNeverThrows) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2.5]})").at("a").at(1), 2.5);
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":1} x", "\"\xff\""})
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
}

TEST(Json, WhatIsNotThereIsNull) {
  EXPECT_TRUE(or_null(std::nullopt).is_null());
  EXPECT_EQ(or_null(0.0), 0.0);
}

}  // namespace
}  // namespace tandem
