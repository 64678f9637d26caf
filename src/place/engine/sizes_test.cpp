#include "place/engine/sizes.h"

#include <gtest/gtest.h>

namespace tandem::place {
namespace {

Option size(int cores, double seconds) {
  Option out;
  out.resources.cores = cores;
  out.seconds = seconds;
  return out;
}

TEST(Sizes, AreOrderedByCoresAndATaskWithoutOptionsHasOne) {
  TaskView task;
  task.wanted.cores = 3;
  ASSERT_EQ(sizes_of(task).size(), 1u);
  EXPECT_EQ(sizes_of(task).front().resources.cores, 3);
  task.options = {size(4, 1), size(1, 3), size(2, 2)};
  const auto sizes = sizes_of(task);
  EXPECT_EQ(sizes[0].resources.cores, 1);
  EXPECT_EQ(sizes[2].resources.cores, 4);
  EXPECT_EQ(least_cores(sizes), 1);
}

TEST(Sizes, TheThriftiestIsTriedFirstThenThoseWithNoMoreCores) {
  // Core-seconds an epoch: 4, 3, 8.
  const std::vector<Option> sizes{size(1, 4), size(2, 1.5), size(4, 2)};
  EXPECT_EQ(thriftiest(sizes), 1u);
  EXPECT_EQ(modest_sizes(sizes), (std::vector<std::size_t>{1, 0}));
}

TEST(Sizes, WhoWouldEndLastGetsTheCoresThatAreLeft) {
  const std::vector<Option> sizes{size(1, 4), size(2, 2.2), size(4, 1.3)};
  const std::vector<Sharer> all{{&sizes, 1}, {&sizes, 10}};
  EXPECT_EQ(deal_cores(all, 2), (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(deal_cores(all, 3), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(deal_cores(all, 5), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(deal_cores(all, 6), (std::vector<std::size_t>{1, 2}));
}

TEST(Sizes, CoresThatHardlyHelpAreNotTaken) {
  const std::vector<Option> sizes{size(1, 1.0), size(2, 0.98)};
  const std::vector<Sharer> one{{&sizes, 5}};
  EXPECT_EQ(deal_cores(one, 8), (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace tandem::place
