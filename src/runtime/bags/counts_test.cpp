#include "runtime/bags/counts.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::bags {
namespace {

TEST(Loss, IsTheMeanRelativeErrorOfScaledCounts) {
  const Counts whole{{"a", 100}, {"b", 50}};
  EXPECT_DOUBLE_EQ(loss(whole, whole, 10, 10), 0);
  // Half of the tasks: 60 stands for 120 (20 % off), nothing for nothing (100 % off).
  EXPECT_DOUBLE_EQ(loss(whole, {{"a", 60}}, 10, 5), 0.6);
  // Keys that are not in the whole do not count, nor do those beyond the most seen.
  EXPECT_DOUBLE_EQ(loss(whole, {{"a", 100}, {"b", 50}, {"c", 7}}, 10, 10), 0);
}

TEST(Loss, LooksAtTheKeysSeenMost) {
  Counts whole, part;
  for (std::size_t i = 0; i < kKeysJudged; ++i) whole["often" + std::to_string(i)] = 10;
  part = whole;
  whole["rare"] = 1;
  EXPECT_DOUBLE_EQ(loss(whole, part, 1, 1), 0);
  part.erase("often0");
  EXPECT_DOUBLE_EQ(loss(whole, part, 1, 1), 1.0 / kKeysJudged);
}

TEST(Loss, RefusesWhatCannotBeCompared) {
  EXPECT_THROW(loss({}, {{"a", 1}}, 1, 1), UserError);
  EXPECT_THROW(loss({{"a", 1}}, {}, 5, 0), UserError);
  EXPECT_THROW(loss({{"a", 1}}, {}, 5, 6), UserError);
}

TEST(Counts, AreReadAsTheyWereWritten) {
  const platform::TemporaryFolder folder;
  const Counts counts{{"a", 3}, {"two words", 12345678901}, {"ü", 1}};
  write_counts(counts, folder.path() / "x");
  EXPECT_EQ(read_counts(folder.path() / "x"), counts);
}

TEST(Counts, ThatWereCutOffAreRefused) {
  const platform::TemporaryFolder folder;
  for (const char* content : {"", "3 a\n", "3 a\nen", "a\nend\n", "3\nend\n"}) {
    std::ofstream(folder.path() / "x") << content;
    EXPECT_THROW(read_counts(folder.path() / "x"), SystemError) << content;
  }
}

}  // namespace
}  // namespace tandem::bags
