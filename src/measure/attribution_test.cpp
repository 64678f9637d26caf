#include "measure/attribution.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tandem::measure {
namespace {

TEST(Attribution, ByShareOfBusyTime) {
  Attribution shares;
  shares.attach(1);
  shares.attach(2);
  shares.step(Joules{100}, Seconds{4}, {{1, Seconds{1}}, {2, Seconds{2}}});
  EXPECT_DOUBLE_EQ(shares.take(1)->value, 25);
  EXPECT_DOUBLE_EQ(shares.take(2)->value, 50) << "a quarter stays with the rest of the machine";
  EXPECT_EQ(shares.take(2)->value, 0) << "each joule is given once";
}

TEST(Attribution, AnIdleIntervalStaysWithTheMachine) {
  Attribution shares;
  shares.attach(1);
  shares.step(Joules{100}, Seconds{0}, {{1, Seconds{0}}});
  EXPECT_EQ(shares.take(1)->value, 0);
}

TEST(Attribution, UnmeasuredIsNotZero) {
  Attribution shares;
  shares.attach(1);
  shares.attach(2);
  shares.step(Joules{10}, Seconds{1}, {{1, Seconds{1}}, {2, std::nullopt}});
  EXPECT_FALSE(shares.take(2));
  EXPECT_TRUE(shares.take(1));
  shares.step(std::nullopt, Seconds{1}, {{1, Seconds{1}}, {2, Seconds{0}}});
  shares.step(Joules{10}, Seconds{1}, {{1, Seconds{1}}, {2, Seconds{0}}});
  EXPECT_FALSE(shares.take(1)) << "one bad interval spoils the stretch";
  shares.step(Joules{10}, Seconds{1}, {{1, Seconds{1}}, {2, Seconds{0}}});
  EXPECT_DOUBLE_EQ(shares.take(1)->value, 10) << "and not the next";
  shares.step(Joules{10}, std::nullopt, {{1, Seconds{1}}, {2, Seconds{0}}});
  EXPECT_FALSE(shares.take(1));
}

TEST(Attribution, TasksTogetherNeverGetMoreThanTheMachineUsed) {
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    Attribution shares;
    const int tasks = 1 + static_cast<int>(random.below(8));
    for (TaskId task = 0; task < tasks; ++task) shares.attach(task);
    double machine = 0, given = 0;
    for (int step = 0; step < 50; ++step) {
      const double joules = random.uniform(0, 50);
      std::map<TaskId, std::optional<Seconds>> cpu;
      for (TaskId task = 0; task < tasks; ++task) cpu[task] = Seconds{random.uniform(0, 1)};
      // Often less than the tasks' own sum, as a coarse clock would say.
      shares.step(Joules{joules}, Seconds{random.uniform(0, tasks)}, cpu);
      machine += joules;
      if (random.uniform() < 0.2) given += shares.take(static_cast<TaskId>(random.below(tasks)))->value;
    }
    for (TaskId task = 0; task < tasks; ++task) given += shares.take(task)->value;
    ASSERT_LE(given, machine * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace tandem::measure
