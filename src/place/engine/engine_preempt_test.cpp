// Who makes room for whom.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "place/engine/engine.h"

namespace tandem::place {
namespace {

// A cluster to which things happen by chance; what the engine says is written down.
class RoomPlay : private EngineHost {
 public:
  RoomPlay(std::uint64_t seed, const Policy& policy, bool shares, std::size_t most_cleared)
      : random_(seed), engine_(policy, pools_, *this, most_cleared) {
    const auto types = 1 + random_.below(2), lines = 1 + random_.below(8);
    for (std::uint32_t type = 0; type < types; ++type) {
      types_.push_back(type);
      pools_.emplace_back(Amount{static_cast<std::int64_t>(1000 * (2 + random_.below(7))), 16, 4, 0},
                          1 + random_.below(5));
    }
    where_.rule = static_cast<NodeRule>(random_.below(4));
    if (random_.below(3) == 0) where_.keep.milli_cores = 500;
    priorities_ = 1 + random_.below(12);
    for (std::size_t i = 0; i < lines; ++i) add_line(shares);
  }

  void happen() {
    const auto what = random_.below(10);
    const auto task = static_cast<std::uint32_t>(random_.below(tasks_.size() + 1));
    const auto* held = task < tasks_.size() ? engine_.holding(task) : nullptr;
    if (what < 5) {
      tasks_.push_back({lines_[random_.below(lines_.size())], static_cast<int>(random_.below(priorities_))});
      wait(static_cast<std::uint32_t>(tasks_.size() - 1));
    } else if (what < 8 && held) {
      const bool again = held->standing == Engine::Standing::stopping;
      engine_.release(task);
      if (again) wait(task);
    } else if (what == 8 && held && held->standing != Engine::Standing::stopping) {
      auto other = *held;
      using Standing = Engine::Standing;
      other.standing = other.standing == Standing::held ? Standing::runs : Standing::held;
      other.priority = static_cast<int>(random_.below(priorities_));
      engine_.hold(task, other);
    } else if (what == 9 && random_.below(4) == 0) {
      const auto type = static_cast<std::uint32_t>(random_.below(pools_.size()));
      const auto node = static_cast<std::uint32_t>(random_.below(pools_[type].size()));
      engine_.set_up(type, node, !pools_[type].is_up(node));
    }
    said += fmt::format("{}: ", ++now_);
    engine_.serve(now_);
  }

  std::string free() const {
    std::string out;
    for (const auto& pool : pools_)
      for (std::uint32_t node = 0; node < pool.size(); ++node) out += text(pool.free_on(node)) + "; ";
    return out;
  }

  std::string said;
  int stops = 0;

 private:
  struct Task {
    std::uint32_t line = 0;
    int priority = 0;
  };

  void add_line(bool shares) {
    TaskRequirements needs;
    needs.part.milli_cores = static_cast<std::int64_t>(500 * random_.below(8));
    needs.part.memory = static_cast<Bytes>(random_.below(8));
    if (const auto gpus = random_.below(6); shares && gpus == 5)
      needs.part.gpu_share = static_cast<std::int32_t>(250 * (1 + random_.below(3)));
    else if (gpus < 3)
      needs.part.gpus = static_cast<std::int32_t>(gpus);
    if (random_.below(3) == 0) needs.parts = static_cast<std::int64_t>(2 + random_.below(2));
    needs.apart = needs.parts > 1 && random_.below(2) == 0;
    needs_.push_back(needs);
    lines_.push_back(engine_.add_line(engine_.add_shape(needs_.back(), types_)));
    needs_of_line_.push_back(&needs_.back());
  }
  void wait(std::uint32_t task) {
    const auto& [line, priority] = tasks_[task];
    engine_.wait(task, line, -priority, now_, priority);
  }

  const std::vector<std::uint32_t>& ranked(std::uint32_t) override { return types_; }
  Where where(std::uint32_t task, std::uint32_t) override {
    where_.random = task * 7919;
    where_.apart = needs_of_line_[tasks_[task].line]->apart;
    return where_;
  }
  Lasts lasts(std::uint32_t, std::uint32_t, std::span<const Share>) override { return {1}; }
  bool begins_at_once() const override { return true; }
  void start(std::uint32_t task, std::span<const Placed> places) override {
    said += fmt::format("+{}@", task);
    for (const auto& place : places)
      said += fmt::format("{}.{}x{} ", place.type, place.share.node, place.share.parts);
  }
  void stop(std::uint32_t task, const StopCause& cause) override {
    said += fmt::format("-{} for {} ", task, *cause.room_for);
    ++stops;
  }

  Random random_;
  std::vector<std::uint32_t> types_;
  std::vector<Pool> pools_;
  Engine engine_;
  Where where_;
  std::size_t priorities_ = 1;
  std::deque<TaskRequirements> needs_;
  std::vector<const TaskRequirements*> needs_of_line_;
  std::vector<std::uint32_t> lines_;
  std::vector<Task> tasks_;
  double now_ = 0;
};

TEST(WhoMakesRoom, IsTheSameAsWhenAllThatMayGoAreTriedOneByOne) {
  int stops = 0;
  for (const auto* name : {"preempt-restart", "preempt-resume", "first-fit", "fifo"}) {
    const auto policy = parse_policy(name);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      RoomPlay kept(seed, policy, seed % 2 == 0, 4), tried(seed, policy, seed % 2 == 0, 0);
      for (int i = 0; i < 300; ++i) kept.happen(), tried.happen();
      ASSERT_EQ(kept.said, tried.said) << name << ", seed " << seed;
      ASSERT_EQ(kept.free(), tried.free()) << name << ", seed " << seed;
      stops += kept.stops;
    }
  }
  EXPECT_GT(stops, 4000);
}

}  // namespace
}  // namespace tandem::place
