#include "place/engine/nodes.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/error.h"
#include "base/random.h"

namespace tandem::place {
namespace {

TEST(Pool, TakesTheFirstNodeWithRoom) {
  Pool pool({4000, 100, 0, 0}, 3);
  std::vector<Share> taken;
  ASSERT_TRUE(pool.take({3000, 0, 0, 0}, 1, taken));
  EXPECT_EQ(taken[0].node, 0u);
  ASSERT_TRUE(pool.take({2000, 0, 0, 0}, 1, taken));
  EXPECT_EQ(taken[0].node, 1u);
  ASSERT_TRUE(pool.take({1000, 0, 0, 0}, 1, taken));
  EXPECT_EQ(taken[0].node, 0u);
}

TEST(Pool, PartsStayTogetherWhereTheyCan) {
  Pool pool({0, 0, 4, 0}, 3);
  std::vector<Share> taken, more;
  ASSERT_TRUE(pool.take({0, 0, 1, 0}, 2, taken));
  ASSERT_TRUE(pool.take({0, 0, 1, 0}, 4, more));  // not two here and two there
  ASSERT_EQ(more.size(), 1u);
  EXPECT_EQ(more[0].node, 1u);
  ASSERT_TRUE(pool.take({0, 0, 1, 0}, 6, more));
  EXPECT_EQ(more.size(), 2u);
  EXPECT_EQ(more[0].parts, 2u);
  EXPECT_EQ(more[1].parts, 4u);
}

TEST(Pool, PartsThatMustBeApartHaveANodeEachOrNone) {
  Pool pool({4000, 100, 0, 0}, 3);
  std::vector<Share> taken, more;
  const Where apart{.apart = true};
  ASSERT_TRUE(pool.take({1000, 0, 0, 0}, 2, taken, apart));
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].node, 0u);
  EXPECT_EQ(taken[1].node, 1u);
  ASSERT_TRUE(pool.take({4000, 0, 0, 0}, 1, more));
  EXPECT_EQ(more[0].node, 2u);
  EXPECT_FALSE(pool.has_room_apart({1000, 0, 0, 0}, 3)) << "there is room for six, but on two nodes";
  EXPECT_FALSE(pool.take({1000, 0, 0, 0}, 3, more, apart));
  EXPECT_TRUE(pool.has_room_apart({3000, 0, 0, 0}, 2));
  EXPECT_TRUE(pool.take({3000, 0, 0, 0}, 2, more, apart)) << "what did not fit was given back";
  EXPECT_FALSE(Pool::could_ever({4000, 0, 0, 0}, 3, {1000, 0, 0, 0}, 4, true));
  EXPECT_TRUE(Pool::could_ever({4000, 0, 0, 0}, 3, {1000, 0, 0, 0}, 4));
}

TEST(Pool, AJobThatDoesNotFitWhollyTakesNothing) {
  Pool pool({2000, 0, 0, 0}, 2);
  std::vector<Share> taken;
  EXPECT_FALSE(pool.take({1500, 0, 0, 0}, 3, taken));
  EXPECT_TRUE(taken.empty());
  EXPECT_TRUE(pool.take({2000, 0, 0, 0}, 2, taken));
}

TEST(Pool, SharesOfAGpuFillTheFullestFirst) {
  Pool pool({0, 0, 2, 0}, 1);
  std::vector<Share> a, b, c;
  ASSERT_TRUE(pool.take({0, 0, 0, 600}, 1, a));
  ASSERT_TRUE(pool.take({0, 0, 0, 300}, 1, b));
  EXPECT_EQ(a[0].gpu, b[0].gpu);
  ASSERT_TRUE(pool.take({0, 0, 1, 0}, 1, c));  // the other one is still whole
  EXPECT_FALSE(pool.take({0, 0, 0, 200}, 1, c));
  pool.give_back({0, 0, 0, 600}, a[0]);
  pool.give_back({0, 0, 0, 300}, b[0]);
  EXPECT_TRUE(pool.take({0, 0, 1, 0}, 1, c));
}

TEST(Pool, ANodeThatIsDownHasNoRoomAndTakesBackWhatItHeld) {
  Pool pool({1000, 0, 0, 0}, 1);
  std::vector<Share> taken, more;
  ASSERT_TRUE(pool.take({1000, 0, 0, 0}, 1, taken));
  pool.set_up(0, false);
  pool.give_back({1000, 0, 0, 0}, taken[0]);
  EXPECT_FALSE(pool.take({1000, 0, 0, 0}, 1, more));
  pool.set_up(0, true);
  EXPECT_TRUE(pool.take({1000, 0, 0, 0}, 1, more));
}

TEST(Pool, KnowsWhatCanNeverFit) {
  const Pool pool({4000, 8 * kGiB, 2, 0}, 2);
  EXPECT_TRUE(pool.could_ever({2000, 0, 0, 0}, 4));
  EXPECT_FALSE(pool.could_ever({2000, 0, 0, 0}, 5));
  EXPECT_FALSE(pool.could_ever({1000, 9 * kGiB, 0, 0}, 1));
  EXPECT_TRUE(pool.could_ever({0, 0, 0, 400}, 8));
  EXPECT_FALSE(pool.could_ever({0, 0, 0, 400}, 9));
  EXPECT_FALSE(pool.could_ever({0, 0, 3, 0}, 1));
}

// The tree against a look at every node.
TEST(Pool, FindsWhatALookAtEveryNodeFinds) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed, 0);
    const Amount node{8000, 64, 4, 0};
    const std::size_t count = 1 + random.below(200);
    Pool pool(node, count);
    std::vector<Amount> free(count, node);
    std::vector<std::pair<Amount, Share>> held;
    for (int i = 0; i < 2000; ++i) {
      if (random.below(3) == 0 && !held.empty()) {
        const std::size_t which = random.below(held.size());
        const auto [part, share] = held[which];
        pool.give_back(part, share);
        free[share.node].milli_cores += part.milli_cores, free[share.node].memory += part.memory;
        free[share.node].gpus += part.gpus;
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      const Amount part{static_cast<std::int64_t>(random.below(9)) * 1000,
                        static_cast<Bytes>(random.below(65)), static_cast<std::int32_t>(random.below(3)), 0};
      std::optional<std::size_t> expected;
      for (std::size_t n = 0; n < count && !expected; ++n)
        if (free[n].milli_cores >= part.milli_cores && free[n].memory >= part.memory &&
            free[n].gpus >= part.gpus)
          expected = n;
      std::vector<Share> taken;
      ASSERT_EQ(pool.take(part, 1, taken), expected.has_value()) << seed;
      if (!expected) continue;
      ASSERT_EQ(taken.at(0).node, *expected) << seed;
      free[*expected].milli_cores -= part.milli_cores, free[*expected].memory -= part.memory;
      free[*expected].gpus -= part.gpus;
      held.emplace_back(part, taken[0]);
    }
  }
}

TEST(Pool, TheFullestOrTheEmptiestNodeWithRoom) {
  Pool pool({4000, 0, 0, 0}, 3);
  std::vector<Share> taken;
  ASSERT_TRUE(pool.take({3000, 0, 0, 0}, 1, taken));                                // node 0: 1 left
  ASSERT_TRUE(pool.take({2000, 0, 0, 0}, 1, taken, {NodeRule::most_free, 0, {}}));  // node 1: 2 left
  EXPECT_EQ(taken[0].node, 1u);
  ASSERT_TRUE(pool.take({2000, 0, 0, 0}, 1, taken, {NodeRule::least_free, 0, {}}));  // node 1: full
  EXPECT_EQ(taken[0].node, 1u);
  ASSERT_TRUE(pool.take({1000, 0, 0, 0}, 1, taken, {NodeRule::least_free, 0, {}}));  // node 0: full
  EXPECT_EQ(taken[0].node, 0u);
  ASSERT_TRUE(pool.take({1000, 0, 0, 0}, 1, taken, {NodeRule::most_free, 0, {}}));
  EXPECT_EQ(taken[0].node, 2u);
  EXPECT_EQ(pool.room({1000, 0, 0, 0})->milli_cores, 3000);
  EXPECT_FALSE(pool.take({4000, 0, 0, 0}, 1, taken, {NodeRule::least_free, 0, {}}));
  EXPECT_FALSE(pool.take({1000, 0, 0, 0}, 1, taken, {NodeRule::first, 0, {3000, 0, 0, 0}}));
}

// Whatever happened before, the rules choose what a look at every node would.
TEST(Pool, RulesAgreeWithALookAtEveryNode) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed, 2);
    Pool pool({8000, 8, 2, 0}, 1 + random.below(40));
    std::vector<std::pair<Amount, Share>> held;
    for (int i = 0; i < 400; ++i) {
      if (!held.empty() && random.below(3) == 0) {
        const auto which = random.below(held.size());
        pool.give_back(held[which].first, held[which].second);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      Amount part{static_cast<std::int64_t>(1000 * random.below(4)), static_cast<Bytes>(random.below(4)), 0,
                  0};
      if (random.below(2)) part.gpus = 1;
      const auto rule = static_cast<NodeRule>(random.below(4));
      std::optional<std::int64_t> most, least;
      for (std::uint32_t node = 0; node < pool.size(); ++node) {
        const auto free = pool.free_on(node);
        if (free.milli_cores < part.milli_cores || free.memory < part.memory || free.gpus < part.gpus)
          continue;
        const std::int64_t key = part.gpus > 0 ? free.gpus : free.milli_cores;
        most = std::max(most.value_or(key), key), least = std::min(least.value_or(key), key);
      }
      const auto room = pool.room(part, {rule, random.bits(), {}});
      ASSERT_EQ(room.has_value(), most.has_value());
      if (!room) continue;
      const std::int64_t key = part.gpus > 0 ? room->gpus : room->milli_cores;
      if (rule == NodeRule::most_free) {
        ASSERT_EQ(key, *most);
      }
      if (rule == NodeRule::least_free) {
        ASSERT_EQ(key, *least);
      }
      std::vector<Share> taken;
      ASSERT_TRUE(pool.take(part, 1, taken, {rule, random.bits(), {}}));
      held.emplace_back(part, taken[0]);
    }
  }
}

TEST(Pool, TakesTheSamePlacesAgainOrNothing) {
  Pool pool({4000, 0, 2, 0}, 2);
  std::vector<Share> spread, other;
  ASSERT_TRUE(pool.take({3000, 0, 0, 0}, 2, spread));
  ASSERT_EQ(spread.size(), 2u);
  for (const auto& share : spread) pool.give_back({3000, 0, 0, 0}, share);
  EXPECT_TRUE(pool.take_there({3000, 0, 0, 0}, spread));
  for (const auto& share : spread) pool.give_back({3000, 0, 0, 0}, share);
  ASSERT_TRUE(pool.take({2000, 0, 0, 700}, 1, other));
  EXPECT_FALSE(pool.take_there({3000, 0, 0, 0}, spread));
  EXPECT_EQ(pool.free_on(1).milli_cores, 4000);  // nothing was taken
  EXPECT_FALSE(pool.take_there({0, 0, 0, 400}, other));
  EXPECT_TRUE(pool.take_there({0, 0, 0, 300}, other));
}

// A GPU that is full of shares is not one that was taken whole.
TEST(Pool, AWholeGpuGivenBackIsNotTheOneThatOthersShare) {
  Pool pool({0, 0, 2, 0}, 1);
  std::vector<Share> a, b, whole;
  ASSERT_TRUE(pool.take({0, 0, 0, 500}, 1, a));
  ASSERT_TRUE(pool.take({0, 0, 0, 500}, 1, b));
  ASSERT_TRUE(pool.take({0, 0, 1, 0}, 1, whole));
  pool.give_back({0, 0, 1, 0}, whole[0]);
  pool.give_back({0, 0, 0, 500}, a[0]);
  EXPECT_EQ(pool.free_on(0).gpus, 1);
  EXPECT_EQ(pool.free_on(0).gpu_share, 500);
  EXPECT_FALSE(pool.take({0, 0, 2, 0}, 1, whole));
  pool.give_back({0, 0, 0, 500}, b[0]);
  EXPECT_TRUE(pool.take({0, 0, 2, 0}, 1, whole));
}

// A pool to which nodes were added is as one that had them from the beginning.
TEST(Pool, GrowsNodeByNode) {
  const Amount node{8000, 100, 2, 0};
  Pool grown(node, 1);
  for (std::size_t count = 2; count <= 200; ++count) {
    EXPECT_EQ(grown.add_node(), count - 1);
    Pool whole(node, count);
    std::vector<Share> a, b;
    const auto all = static_cast<std::int64_t>(count);
    ASSERT_TRUE(Pool(grown).take({8000, 0, 0, 0}, all, a, {.apart = true})) << "one on each";
    EXPECT_FALSE(Pool(grown).take({8000, 0, 0, 0}, all + 1, b, {.apart = true}));
    for (const auto& share : a)  // all but the last are full: it is found at the other end of the tree
      if (share.node + 1 < count) whole.take_there({8000, 0, 0, 0}, {&share, 1});
    Pool full = grown;
    for (const auto& share : a)
      if (share.node + 1 < count) full.take_there({8000, 0, 0, 0}, {&share, 1});
    ASSERT_EQ(full.take({1000, 0, 1, 0}, 1, a), whole.take({1000, 0, 1, 0}, 1, b));
    ASSERT_EQ(a[0].node, b[0].node);
  }
}

// What is free on a node can be taken and given back apart from its pool, with the same result.
TEST(Pool, StatesOfANodeFollowItsPool) {
  Random random(3, 1);
  Pool pool({8000, 100, 3, 0}, 1);
  std::vector<std::pair<Amount, Share>> there;
  for (int i = 0; i < 2000; ++i) {
    auto state = pool.state_of(0);
    if (random.below(2) == 0 && !there.empty()) {
      const auto at = there.begin() + static_cast<std::ptrdiff_t>(random.below(there.size()));
      state.give_back(at->first, at->second);
      pool.give_back(at->first, at->second);
      there.erase(at);
    } else {
      Amount part{1000 * static_cast<std::int64_t>(random.below(4)), static_cast<Bytes>(random.below(30)), 0,
                  0};
      if (random.below(2) == 0) part.gpus = 1;
      if (part.gpus == 0 && random.below(2) == 0) part.gpu_share = 400;
      std::vector<Share> taken;
      if (!pool.take(part, 1, taken)) continue;
      ASSERT_TRUE(state.take(part, taken[0]));
      there.emplace_back(part, taken[0]);
    }
    ASSERT_EQ(state, pool.state_of(0)) << i;
    pool.set_state(0, state);
    ASSERT_EQ(state, pool.state_of(0));
  }
}

}  // namespace
}  // namespace tandem::place
