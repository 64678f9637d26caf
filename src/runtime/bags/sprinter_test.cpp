#include "runtime/bags/sprinter.h"

#include <gtest/gtest.h>

#include "runtime/bags/buffers.h"

namespace tandem::bags {
namespace {

using stats::Discipline;

Sprinter endless() {
  return Sprinter(place::SprintBudget(std::nullopt, Watts{10}));
}

TEST(Sprinter, BeginsAfterTheTimeoutAndGoesOn) {
  auto sprinter = endless();
  sprinter.begin(Seconds{5}, Seconds{2});
  EXPECT_FALSE(sprinter.sprints(Seconds{6.9}));
  EXPECT_EQ(sprinter.ask_again(), Seconds{7});
  EXPECT_TRUE(sprinter.sprints(Seconds{7}));
  EXPECT_TRUE(sprinter.sprints(Seconds{100}));
}

TEST(Sprinter, NeverSprintsWithoutATimeout) {
  auto sprinter = endless();
  sprinter.begin(Seconds{0}, std::nullopt);
  EXPECT_FALSE(sprinter.sprints(Seconds{1000}));
  EXPECT_FALSE(sprinter.ask_again());
}

// Asks whenever it wants to be asked; how long it sprinted.
double sprinted(Sprinter& sprinter, double from, double to) {
  double sum = 0, now = from;
  while (now < to) {
    const bool on = sprinter.sprints(Seconds{now});
    const auto next = sprinter.ask_again();
    const double until = next ? std::min(to, next->value) : to;
    if (on) sum += until - now;
    if (until <= now && !next) break;
    now = until;
  }
  return sum;
}

TEST(Sprinter, StopsWhenTheBudgetIsUsedUpAsTheSimulatorSays) {
  const place::SprintLimit limit{Joules{10}, Watts{2}};
  Sprinter sprinter(place::SprintBudget(limit, Watts{10}));
  place::SprintBudget simulated(limit, Watts{10});
  for (const double begin : {0.0, 5.0, 6.0}) {  // full; refilled in part; hardly
    sprinter.begin(Seconds{begin}, Seconds{0.5});
    const double expected = simulated.spend(Seconds{begin + 0.5}, Seconds{0.5}).value;
    EXPECT_NEAR(sprinted(sprinter, begin, begin + 1), expected, Sprinter::kSlice.value) << begin;
  }
}

TEST(Sprinter, ASliceThatWasPaidForIsTheNextJobs) {
  Sprinter sprinter(place::SprintBudget(place::SprintLimit{Joules{0.2}, Watts{0}}, Watts{10}));
  sprinter.begin(Seconds{1}, Seconds{0});
  EXPECT_TRUE(sprinter.sprints(Seconds{1}));  // the whole budget: one slice
  sprinter.begin(Seconds{1.01}, Seconds{0});  // the first job ended early
  EXPECT_TRUE(sprinter.sprints(Seconds{1.01}));
  EXPECT_FALSE(sprinter.sprints(Seconds{1.021}));
}

TEST(Buffers, ServeTheHighestFirstAndInOrder) {
  Buffers buffers(2, Discipline::non_preemptive);
  EXPECT_TRUE(buffers.empty());
  EXPECT_FALSE(buffers.next());
  buffers.add(0, 1);
  buffers.add(1, 1);
  buffers.add(2, 0);
  EXPECT_FALSE(buffers.evicts(1));
  EXPECT_EQ(buffers.next(), 2u);
  EXPECT_EQ(buffers.next(), 0u);
  EXPECT_EQ(buffers.next(), 1u);
}

TEST(Buffers, AHigherOneEvictsAndTheEvictedGoesFirst) {
  Buffers buffers(2, Discipline::preemptive_restart);
  buffers.add(0, 1);
  buffers.add(1, 1);
  EXPECT_EQ(buffers.next(), 0u);
  EXPECT_FALSE(buffers.evicts(1)) << "its like does not evict";
  buffers.add(2, 0);
  EXPECT_TRUE(buffers.evicts(1));
  EXPECT_FALSE(buffers.evicts(0));
  buffers.put_back(0, 1);
  EXPECT_EQ(buffers.next(), 2u);
  EXPECT_EQ(buffers.next(), 0u);
}

}  // namespace
}  // namespace tandem::bags
