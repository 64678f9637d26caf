#include "place/fifo.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tandem::place {
namespace {

class FifoTest : public testing::Test {
 protected:
  void happens(EventBody body) {
    const Event event{Seconds{++clock_}, std::move(body)};
    view_.apply(event);
    last_ = event;
  }
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }
  std::vector<DecisionBody> step() {
    auto decided = fifo_.step(view_, last_);
    for (const auto& d : decided) decide(d);
    return decided;
  }

  View view_;
  Event last_;
  Fifo fifo_;
  double clock_ = 0;
};

TEST_F(FifoTest, StartsInOrderWhileThereIsRoomAndLetsNobodyPass) {
  happens(NodeJoined{0, "here", {4, 0, 1.0}});
  happens(JobSubmitted{0, {}});
  for (TaskId id = 0; id < 3; ++id) decide(Request{id, 0, {id == 1 ? 3 : 2, 0, 1.0}});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 1u) << "task 2 would fit, but task 1 is before it";
  EXPECT_EQ(std::get<Start>(decided[0]).task, 0);
  happens(TaskEnded{0, 1, {}});
  EXPECT_EQ(std::get<Start>(step().at(0)).task, 1);
}

TEST_F(FifoTest, StopsTheTasksOfACancelledJobOnceAndStartsNoMore) {
  happens(NodeJoined{0, "here", {4, 0, 1.0}});
  happens(JobSubmitted{0, {}});
  for (TaskId id = 0; id < 3; ++id) decide(Request{id, 0, {2, 0, 1.0}});
  step();
  happens(JobCancelled{0, "asked"});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<Stop>(decided[0]).reason, "asked");
  EXPECT_TRUE(step().empty());
}

// Property: whatever comes and goes, no node is ever overdrawn.
TEST_F(FifoTest, NeverGrantsMoreThanANodeHas) {
  Random random(7);
  happens(NodeJoined{0, "a", {4, 8 * kGiB, 1.0}});
  happens(NodeJoined{1, "b", {2, 2 * kGiB, 1.0}});
  happens(JobSubmitted{0, {}});
  TaskId next = 0;
  for (int round = 0; round < 2000; ++round) {
    if (random.below(2) == 0)
      decide(
          Request{next++,
                  0,
                  {static_cast<int>(1 + random.below(4)), static_cast<Bytes>(random.below(3)) * kGiB, 1.0}});
    if (!view_.holding.empty() && random.below(2) == 0)
      happens(TaskEnded{
          *std::next(view_.holding.begin(), static_cast<long>(random.below(view_.holding.size()))), 1, {}});
    step();
    for (const auto& node : view_.nodes) {
      ASSERT_GE(node.free_cores, 0);
      ASSERT_GE(node.free_memory, 0);
      ASSERT_LE(node.free_cores, node.capacity.cores);
    }
  }
  EXPECT_GT(next, 500);
}

}  // namespace
}  // namespace tandem::place
