#include "store/read_ahead.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace tandem::store {
namespace {

// 0, 1, ... up to `end`; where it is at `bad` it throws instead.
auto numbers(int end, int bad = -1) {
  return [at = 0, end, bad]() mutable -> std::optional<int> {
    if (at == bad) throw std::runtime_error("bad " + std::to_string(at));
    return at < end ? std::optional<int>(at++) : std::nullopt;
  };
}

// Twice the number; some take longer than others, and `bad` is thrown.
auto twice(int bad = -1) {
  return [bad](int number) {
    if (number == bad) throw std::runtime_error("bad to make " + std::to_string(number));
    if (number % 300 == 7) std::this_thread::yield();
    return 2 * number;
  };
}

using Numbers = ReadAhead<int, int>;

TEST(ReadAhead, HandsAllOverInOrder) {
  for (const unsigned threads : {1U, 2U, 7U})
    for (const int count : {0, 1, 127, 128, 129, 10'000}) {
      Numbers ahead(numbers(count), twice(), threads);
      int expected = 0;
      for (auto some = ahead.take(); !some.empty(); some = ahead.take())
        for (const int number : some) EXPECT_EQ(number, 2 * expected++);
      EXPECT_EQ(expected, count);
      EXPECT_TRUE(ahead.take().empty());
    }
}

// All that was made before comes first, wherever it was thrown.
TEST(ReadAhead, WhatIsThrownComesAfterWhatWasMadeBefore) {
  const std::pair<int, int> bad[] = {{300, -1}, {-1, 300}, {300, 290}, {256, -1}, {-1, 0}};
  for (const unsigned threads : {1U, 4U})
    for (const auto& [to_read, to_make] : bad) {
      const int first = to_make >= 0 ? to_make : to_read;
      Numbers ahead(numbers(10'000, to_read), twice(to_make), threads);
      int seen = 0;
      try {
        for (auto some = ahead.take(); !some.empty(); some = ahead.take())
          seen += static_cast<int>(some.size());
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), (to_make >= 0 ? "bad to make " : "bad ") + std::to_string(first));
      }
      EXPECT_EQ(seen, first);
    }
}

TEST(ReadAhead, EndsWhenNobodyWantsMore) {
  Numbers ahead([]() -> std::optional<int> { return 1; }, twice());  // without end
  EXPECT_FALSE(ahead.take().empty());
}

}  // namespace
}  // namespace tandem::store
