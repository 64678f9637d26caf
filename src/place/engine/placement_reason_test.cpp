#include "place/engine/placement_reason.h"

#include <gtest/gtest.h>

#include "place/engine/scheduler_testing.h"

namespace tandem::place {
namespace {

TEST_F(SchedulerTest, WhyATaskWasPlacedIsKeptAsItWasThen) {
  const std::string name = "heats:H=1:x=0";
  policy(name);
  node("fast", 2, 2, 50, 250);
  node("thrifty", 2, 1, 5, 15);
  const TaskId first = job(2, 100), second = job(2, 100);  // thrifty is full by then
  starts(first);
  ends(first);  // what is so now does not matter
  const auto one = explain_placement(view_, parse_policy(name), at(first));
  const auto two = explain_placement(view_, parse_policy(name), at(second));
  ASSERT_EQ(one.types.size(), 2U);
  EXPECT_EQ(one.types[0].type, "thrifty");
  EXPECT_EQ(one.types[0].refused, "");
  EXPECT_NE(one.types[0].why.find("energy"), std::string::npos);
  EXPECT_EQ(one.energy_weight, 1);
  EXPECT_NE(one.verdict.find("2 nodes were possible"), std::string::npos) << one.verdict;
  ASSERT_EQ(two.types.size(), 2U);
  EXPECT_EQ(two.types[0].type, "fast");
  EXPECT_EQ(two.types[1].refused, "no room now");
  EXPECT_GT(two.types[1].score, two.types[0].score) << "it would have been better there";
  EXPECT_NE(two.verdict.find("fast0"), std::string::npos);
}

TEST_F(SchedulerTest, EveryPolicyKeepsAReasonThatNamesTheNodeItChose) {
  for (const auto& entry : policies()) {
    view_ = {};
    policy(entry.name);
    for (int i = 0; i < 5; ++i) observed(node("type" + std::to_string(i), 1 + i), {.cpu = 0});
    const TaskId task = job(5, 10);
    ASSERT_TRUE(runs(task)) << entry.name;
    ASSERT_TRUE(at(task).reason) << entry.name;
    const auto& reason = *at(task).reason;
    EXPECT_LE(reason.best.size(), PlacementReason::kKept) << entry.name;
    const auto chosen = std::find_if(reason.best.begin(), reason.best.end(),
                                     [&](const auto& c) { return c.node == reason.chosen; });
    ASSERT_NE(chosen, reason.best.end()) << entry.name;
    EXPECT_EQ(chosen->node, at(task).node) << entry.name;
    EXPECT_TRUE(chosen->room) << entry.name;
  }
}

TEST_F(SchedulerTest, ATaskOfAnOlderJournalSaysThatNoReasonWasKept) {
  policy("fifo");
  node("n", 1);
  auto old = at(job(1, 10));
  old.reason.reset();
  const auto why = explain_placement(view_, parse_policy("fifo"), old);
  EXPECT_TRUE(why.types.empty());
  EXPECT_NE(why.verdict.find("no reason was kept"), std::string::npos);
}

}  // namespace
}  // namespace tandem::place
