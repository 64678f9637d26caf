#include "event/id_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/random.h"

namespace tandem {
namespace {

std::vector<std::string> all(const IdTable<std::string>& table) {
  return {table.begin(), table.end()};
}

TEST(IdTable, IdsStayValidAndIterationSkipsWhatIsGone) {
  IdTable<std::string> table{"a", "b", "c"};
  table.erase(1);
  EXPECT_EQ(table.size(), 3U);
  EXPECT_EQ(table.present(), 2U);
  EXPECT_FALSE(table.contains(1));
  EXPECT_FALSE(table.contains(-1));
  EXPECT_THROW(table.at(1), std::out_of_range);
  EXPECT_EQ(table[2], "c");
  EXPECT_EQ(all(table), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(*table.rbegin(), "c");
  EXPECT_EQ(*std::next(table.rbegin()), "a");
  EXPECT_EQ(table.emplace_back("d"), "d");
  EXPECT_EQ(table.back(), "d");
}

TEST(IdTable, WhatIsSharedDoesNotSeeWhatHappensToTheOriginalNorTheOtherWayRound) {
  IdTable<std::string> table;
  for (int i = 0; i < 1000; ++i) table.push_back(std::to_string(i));
  auto copy = table.share();
  const auto third = copy.share();
  table[5] = "changed";
  copy[5] = "otherwise";
  table.erase(6);
  copy.push_back("more");
  EXPECT_EQ(table[5], "changed");
  EXPECT_EQ(copy[5], "otherwise");
  EXPECT_EQ(third[5], "5");
  EXPECT_EQ(copy[6], "6");
  EXPECT_FALSE(table.contains(1000));
  table = third;
  table[5] = "again";
  EXPECT_EQ(third[5], "5");
}

TEST(IdTable, WhatIsErasedGivesItsMemoryBack) {
  IdTable<std::shared_ptr<int>> table;
  const auto value = std::make_shared<int>(1);
  for (int i = 0; i < 500; ++i) table.push_back(value);
  for (std::size_t i = 0; i < 500; ++i) table.erase(i);
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_EQ(table.begin(), table.end());
  EXPECT_EQ(table.size(), 500U);
}

// Any number of copies, each changed on its own, against ordinary maps.
TEST(IdTable, BehavesLikeAMapUnderAnyOperations) {
  struct Pair {
    IdTable<int> table;
    std::map<std::size_t, int> model;
  };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    std::vector<Pair> pairs(1);
    for (int step = 0; step < 600; ++step) {
      auto& [table, model] = pairs[random.below(pairs.size())];
      const auto id = table.empty() ? 0 : random.below(table.size());
      switch (random.below(5)) {
        case 0:
        case 1:
          model[table.size()] = step;
          table.push_back(step);
          break;
        case 2:
          if (table.contains(static_cast<std::int64_t>(id))) table[id] = model[id] = step;
          break;
        case 3:
          table.erase(id);
          model.erase(id);
          break;
        default:
          if (random.below(10) == 0 && pairs.size() < 6) {
            auto& from = pairs[random.below(pairs.size())];
            Pair next{random.below(2) == 0 ? from.table.share() : from.table, from.model};
            pairs.push_back(std::move(next));
          }
      }
    }
    for (const auto& [table, model] : pairs) {
      std::vector<int> there, backwards, expected;
      for (const auto& [id, value] : model) expected.push_back(value);
      there.assign(table.begin(), table.end());
      backwards.assign(table.rbegin(), table.rend());
      std::reverse(backwards.begin(), backwards.end());
      EXPECT_EQ(there, expected) << seed;
      EXPECT_EQ(backwards, expected) << seed;
      EXPECT_EQ(table.present(), model.size());
    }
  }
}

}  // namespace
}  // namespace tandem
