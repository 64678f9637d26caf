#include "control/ledger.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tandem::control {
namespace {

Ledger two_nodes() {
  Ledger out;
  out.set_node(0, "a", {4, 8 * kGiB, 1.0, 2});
  out.set_node(1, "b", {4, 8 * kGiB, 1.0, 2});
  return out;
}

TEST(Ledger, AStartTakesItsPartOfEachNodeOrNothing) {
  Ledger ledger = two_nodes();
  Holding whole, gang;
  EXPECT_EQ(ledger.start(whole, {1}, {4, kGiB, 1.0}), "");
  const std::string why = ledger.start(gang, {0, 1}, {1, kGiB, 1.0});
  EXPECT_NE(why.find("only 0 cores"), std::string::npos) << why;
  EXPECT_NE(why.find("on b"), std::string::npos) << why;
  EXPECT_FALSE(gang.any());
  EXPECT_EQ(ledger.free_cores(0), 4);
  ledger.end(whole);
  EXPECT_EQ(ledger.start(gang, {0, 1}, {1, kGiB, 1.0}), "");
  EXPECT_EQ(ledger.free_memory(0), 7 * kGiB);
}

TEST(Ledger, ATaskThatIsHeldLendsItsCoresAndKeepsTheRest) {
  Ledger ledger = two_nodes();
  Holding held, other;
  ledger.start(held, {0}, {4, 4 * kGiB, 1.0, 2});
  ledger.lend_cores(held);
  ledger.lend_cores(held);  // once
  EXPECT_EQ(ledger.free_cores(0), 4);
  EXPECT_EQ(ledger.free_memory(0), 4 * kGiB);
  EXPECT_EQ(ledger.free_gpus(0), 0);
  EXPECT_EQ(ledger.start(other, {0}, {3, 0, 1.0}), "");
  EXPECT_NE(ledger.resize(held, held.granted), "");
  EXPECT_TRUE(held.lent);
  const Holding before = held;
  EXPECT_EQ(ledger.resize(held, {1, 4 * kGiB, 1.0, 2}), "");
  EXPECT_EQ(ledger.free_cores(0), 0);
  ledger.undo(held, before);
  EXPECT_EQ(ledger.free_cores(0), 1);
  EXPECT_TRUE(held.lent);
  ledger.end(held);
  ledger.end(other);
  EXPECT_EQ(ledger.free_cores(0), 4);
  EXPECT_EQ(ledger.free_gpus(0), 2);
}

TEST(Ledger, SharedGpusAreNotCountedAsWhole) {
  Ledger ledger = two_nodes();
  Holding shares;
  EXPECT_EQ(ledger.start(shares, {0}, {.cores = 1, .gpus = 2, .gpu_memory = kGiB}), "");
  EXPECT_EQ(ledger.free_gpus(0), 2);
}

TEST(Ledger, LanesHaveOneMemory) {
  Ledger ledger = two_nodes();
  ledger.share_memory(0, 1);
  Holding gang, too_much;
  EXPECT_NE(ledger.start(too_much, {0, 1}, {1, 5 * kGiB, 1.0}), "");
  EXPECT_EQ(ledger.start(gang, {0, 1}, {1, 4 * kGiB, 1.0}), "");
  EXPECT_EQ(ledger.free_memory(0), 0);
  EXPECT_EQ(ledger.free_memory(1), 0);
  ledger.end(gang);
  EXPECT_EQ(ledger.free_memory(1), 8 * kGiB);
}

TEST(Ledger, ANodeThatIsAwayOwesWhatIsStillGranted) {
  Ledger ledger = two_nodes();
  Holding there, late;
  ledger.start(there, {0}, {3, kGiB, 1.0});
  ledger.set_node(0, "a", {0, 0, 1.0});
  EXPECT_EQ(ledger.free_cores(0), -3);
  EXPECT_NE(ledger.start(late, {0}, {1, 0, 1.0}), "");
  ledger.end(there);
  ledger.set_node(0, "a", {4, 8 * kGiB, 1.0, 2});
  EXPECT_EQ(ledger.free_cores(0), 4);
  EXPECT_EQ(ledger.free_memory(0), 8 * kGiB);
}

TEST(Ledger, NonsenseIsRefused) {
  Ledger ledger = two_nodes();
  Holding holding;
  EXPECT_NE(ledger.start(holding, {7}, {1, 0, 1.0}), "");
  EXPECT_NE(ledger.start(holding, {0, 0}, {1, 0, 1.0}), "");
  EXPECT_NE(ledger.start(holding, {0}, {0, 0, 1.0}), "");
  EXPECT_EQ(ledger.free_cores(0), 4);
}

TEST(Ledger, NothingIsLostOrGrantedTwiceWhateverComes) {
  Random random(1);
  Ledger ledger = two_nodes();
  std::vector<Holding> all(6);
  for (int step = 0; step < 2000; ++step) {
    Holding& one = all[random.below(all.size())];
    const Resources wanted{static_cast<int>(1 + random.below(4)), static_cast<Bytes>(random.below(4)) * kGiB,
                           1.0, static_cast<int>(random.below(3))};
    const auto act = random.below(4);
    if (!one.any())
      ledger.start(one, random.below(2) == 0 ? std::vector<NodeId>{0} : std::vector<NodeId>{1, 0}, wanted);
    else if (act == 0)
      ledger.end(one);
    else if (act == 1)
      ledger.lend_cores(one);
    else
      ledger.resize(one, wanted);
    for (const NodeId node : {0, 1}) {
      int cores = ledger.free_cores(node), gpus = ledger.free_gpus(node);
      Bytes memory = ledger.free_memory(node);
      ASSERT_TRUE(cores >= 0 && gpus >= 0 && memory >= 0);
      for (const auto& holding : all)
        for (const NodeId on : holding.nodes)
          if (on == node)
            cores += holding.lent ? 0 : holding.granted.cores, gpus += holding.granted.gpus,
                memory += holding.granted.memory;
      ASSERT_EQ(cores, 4);
      ASSERT_EQ(gpus, 2);
      ASSERT_EQ(memory, 8 * kGiB);
    }
  }
}

}  // namespace
}  // namespace tandem::control
