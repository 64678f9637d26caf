#include "place/engine/engine.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tandem::place {
namespace {

// A host whose tasks last as long as they say; what the engine tells it is written down.
class EngineTest : public testing::Test, protected EngineHost {
 protected:
  void make(const std::string& policy, std::size_t nodes, std::int64_t cores, std::int32_t gpus = 0) {
    policy_ = parse_policy(policy);
    pools_.clear();
    pools_.emplace_back(Amount{1000 * cores, 0, gpus, 0}, nodes);
    EngineHost& host = *this;
    engine_.emplace(policy_, pools_, host);
  }
  std::uint32_t line(std::int64_t cores) {
    needs_.push_back({});
    needs_.back().part.milli_cores = 1000 * cores;
    return engine_->add_line(engine_->add_shape(needs_.back(), {0}));
  }
  std::uint32_t wait(std::uint32_t line, double lasts = 10, int priority = 0) {
    const auto task = static_cast<std::uint32_t>(lasts_.size());
    lasts_.push_back(lasts);
    const double key =
        policy_.order->key ? policy_.order->key({static_cast<double>(task), lasts, 1, priority}) : task;
    engine_->wait(task, line, key, task, priority);
    return task;
  }
  std::string serve(double now = 0) {
    said_.clear();
    engine_->serve(now);
    return said_;
  }

  const std::vector<std::uint32_t>& ranked(std::uint32_t) override {
    ++asked_;
    return types_;
  }
  Where where(std::uint32_t, std::uint32_t) override { return {}; }
  Lasts lasts(std::uint32_t task, std::uint32_t, std::span<const Share>) override { return {lasts_[task]}; }
  bool begins_at_once() const override { return true; }
  void start(std::uint32_t task, std::span<const Placed> places) override {
    said_ += "+" + std::to_string(task) + "@" + std::to_string(places[0].share.node) + " ";
  }
  void stop(std::uint32_t task, const StopCause&) override { said_ += "-" + std::to_string(task) + " "; }

  Policy policy_;
  std::vector<Pool> pools_;
  std::optional<Engine> engine_;
  std::deque<TaskRequirements> needs_;
  std::vector<double> lasts_;
  std::vector<std::uint32_t> types_{0};
  std::string said_;
  int asked_ = 0;
};

TEST_F(EngineTest, ALineWithoutRoomIsAskedAgainOnlyWhenRoomForItCameFree) {
  make("first-fit", 2, 4);
  const auto four = line(4), one = line(1);
  wait(four), wait(four);
  EXPECT_EQ(serve(), "+0@0 +1@1 ");
  for (int i = 0; i < 100; ++i) wait(four);
  serve();
  asked_ = 0;
  for (int i = 0; i < 10; ++i) wait(four), serve();
  EXPECT_EQ(asked_, 0) << "nothing has changed for them";
  wait(one);
  serve();
  EXPECT_EQ(asked_, 1);
  engine_->release(0);
  EXPECT_EQ(serve(), "+2@0 ");
}

TEST_F(EngineTest, WhereThePolicyBlocksALineWithoutRoomStandsInTheWayOfLaterOnes) {
  make("fifo", 1, 4);
  const auto four = line(4), one = line(1);
  wait(one);
  EXPECT_EQ(serve(), "+0@0 ");
  wait(four);
  serve();
  wait(one);
  EXPECT_EQ(serve(), "") << "also in later rounds";
  engine_->release(0);
  EXPECT_EQ(serve(), "+1@0 ");
  engine_->release(1);
  EXPECT_EQ(serve(), "+2@0 ");
}

TEST_F(EngineTest, WhoPassesMustEndInTimeOrLeaveTheFirstItsPlace) {
  make("backfill", 2, 4);
  const auto four = line(4), one = line(1), three = line(3);
  wait(three, 100), wait(three, 200);
  EXPECT_EQ(serve(), "+0@0 +1@1 ");
  wait(four, 50);  // can start at 100, on node 0
  wait(one, 150);  // would be on node 0, and delay it
  EXPECT_EQ(serve(10), "");
  wait(line(1), 90);  // of a line of its own: those of one last alike
  EXPECT_EQ(serve(10), "+4@0 ");
  EXPECT_EQ(serve(11), "+3@1 ") << "on the other node it delays nobody";
  engine_->release(0), engine_->release(4);
  EXPECT_EQ(serve(100), "+2@0 ");
  EXPECT_EQ(pools_[0].free_on(0).milli_cores, 0);
  EXPECT_EQ(pools_[0].free_on(1).milli_cores, 0);
}

TEST_F(EngineTest, TheLowestMakeRoomAndNobodyTakesItMeanwhile) {
  make("preempt-restart", 1, 4);
  const auto two = line(2), four = line(4);
  wait(two, 10, 1), wait(two, 10, 0);
  EXPECT_EQ(serve(), "+0@0 +1@0 ");
  wait(two, 10, 2);
  EXPECT_EQ(serve(), "-1 ");
  engine_->release(1);
  const auto again = wait(two, 10, 0);
  EXPECT_EQ(serve(), "+2@0 ");
  EXPECT_TRUE(engine_->waits(again));
  wait(four, 10, 5);
  EXPECT_EQ(serve(), "-2 -0 ");
  engine_->release(2);
  EXPECT_EQ(serve(), "") << "room is on its way for another";
  engine_->release(0);
  EXPECT_EQ(serve(), "+4@0 ");
}

// A whole GPU stands for any other: who tried all that may go, and put them back where it was in vain, put one
// with a whole GPU where another has a share, and had to stop that one.
TEST_F(EngineTest, NobodyGoesWhereItWouldBeInVain) {
  make("preempt-restart", 1, 8, 2);
  needs_.push_back({{1000, 0, 0, 500}});
  const auto share = engine_->add_line(engine_->add_shape(needs_.back(), {0}));
  needs_.push_back({{1000, 0, 1, 0}});
  const auto whole = engine_->add_line(engine_->add_shape(needs_.back(), {0}));
  wait(share, 10, 0);
  EXPECT_EQ(serve(), "+0@0 ");
  wait(whole, 10, 1), wait(line(1), 10, 3);
  EXPECT_EQ(serve(), "+2@0 +1@0 ");
  wait(line(8), 10, 2);
  EXPECT_EQ(serve(), "") << "one that is above it has a core";
}

}  // namespace
}  // namespace tandem::place
