#include "store/read_ahead.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tandem::store {
namespace {

// 0, 1, ... up to `end`; where `end` is `bad` it throws instead.
auto numbers(int end, int bad = -1) {
  return [at = 0, end, bad]() mutable -> std::optional<int> {
    if (at == bad) throw std::runtime_error("bad " + std::to_string(at));
    return at < end ? std::optional<int>(at++) : std::nullopt;
  };
}

TEST(ReadAhead, HandsAllOverInOrder) {
  for (const int count : {0, 1, 127, 128, 129, 10'000}) {
    ReadAhead<int> ahead(numbers(count));
    int expected = 0;
    for (auto some = ahead.take(); !some.empty(); some = ahead.take())
      for (const int number : some) EXPECT_EQ(number, expected++);
    EXPECT_EQ(expected, count);
  }
}

TEST(ReadAhead, WhatTheReaderThrowsComesAfterWhatItHadRead) {
  ReadAhead<int> ahead(numbers(10'000, 300));
  int seen = 0;
  try {
    for (auto some = ahead.take(); !some.empty(); some = ahead.take()) seen += static_cast<int>(some.size());
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "bad 300");
  }
  EXPECT_EQ(seen, 256);  // whole batches
}

TEST(ReadAhead, EndsWhenNobodyWantsMore) {
  ReadAhead<int> ahead([]() -> std::optional<int> { return 1; });  // without end
  EXPECT_FALSE(ahead.take().empty());
}

}  // namespace
}  // namespace tandem::store
