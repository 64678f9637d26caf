#include "sim/world/power.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace tandem::sim {
namespace {

PowerModel a_model() {
  return {Watts{100}, Watts{300}, {}};
}

TEST(Power, IsLinearInBusyCoresAndFallsWithTheClockSteps) {
  PowerModel model = a_model();
  EXPECT_DOUBLE_EQ(model.added(4, 4, 1).value, 200);
  EXPECT_DOUBLE_EQ(model.added(1, 4, 1).value, 50);
  EXPECT_DOUBLE_EQ(model.added(1, 4, 0.5).value, 25) << "without steps by speed";
  model.steps = {{0.5, Watts{160}}, {0.8, Watts{220}}};
  EXPECT_DOUBLE_EQ(model.added(4, 4, 0.5).value, 60);
  EXPECT_DOUBLE_EQ(model.added(4, 4, 0.8).value, 120);
  EXPECT_DOUBLE_EQ(model.added(4, 4, 0.65).value, 90) << "in between";
  EXPECT_DOUBLE_EQ(model.added(4, 4, 0.9).value, 160);
  EXPECT_DOUBLE_EQ(model.added(4, 4, 0.25).value, 30);
  EXPECT_DOUBLE_EQ(model.added(4, 4, 1).value, 200);
  EXPECT_EQ(model.source(), "simulated (idle 100 W, busy 300 W)");
}

TEST(Power, ModelsThatNoMachineCanBeLikeAreRefused) {
  EXPECT_NO_THROW(check(a_model(), "here"));
  EXPECT_THROW(check({Watts{100}, Watts{50}, {}}, "here"), UserError);
  EXPECT_THROW(check({Watts{-1}, Watts{50}, {}}, "here"), UserError);
  EXPECT_THROW(check({Watts{100}, Watts{300}, {{0.8, Watts{200}}, {0.5, Watts{150}}}}, "here"), UserError);
  EXPECT_THROW(check({Watts{100}, Watts{300}, {{0.5, Watts{90}}}}, "here"), UserError);
}

TEST(Power, TasksPayForTheirOwnCoresAndShareTheIdlePower) {
  NodePower node(Watts{100}, Seconds{0});
  Claim one, other;
  one.work(node, {1, Watts{50}}, Seconds{10});     // alone until 20
  other.work(node, {3, Watts{150}}, Seconds{20});  // both until 30
  one.rest(node, Seconds{30});
  other.rest(node, Seconds{40});
  EXPECT_DOUBLE_EQ(one.take(node, Seconds{50}).value, (100 + 50) * 10 + (25 + 50) * 10);
  EXPECT_DOUBLE_EQ(other.take(node, Seconds{50}).value, (75 + 150) * 10 + (100 + 150) * 10);
  EXPECT_DOUBLE_EQ(one.take(node, Seconds{50}).value, 0) << "it is paid once";
  EXPECT_DOUBLE_EQ(node.unclaimed(Seconds{50}).value, 2000);
  EXPECT_DOUBLE_EQ(node.joules(Seconds{50}).value, 5000 + 50 * 20 + 150 * 20);
}

TEST(Power, ANodeThatIsOffDrawsNothing) {
  NodePower node(Watts{100}, Seconds{0});
  node.turn(false, Seconds{10});
  node.turn(true, Seconds{60});
  EXPECT_DOUBLE_EQ(node.joules(Seconds{70}).value, 2000);
}

// Whatever comes and goes, somebody has paid for every joule, or nobody was there.
TEST(Power, JoulesOfAllTasksAndUnclaimedOnesAreTheIntegralOfPower) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const PowerModel model{Watts{200 * random.uniform()}, Watts{200 + 300 * random.uniform()}, {}};
    NodePower node(model.idle, Seconds{0});
    std::vector<Claim> claims(8);
    double now = 0, paid = 0;
    for (int step = 0; step < 500; ++step) {
      now += random.exponential(3);
      auto& claim = claims[random.below(claims.size())];
      const double cores = 4 * random.uniform(), what = random.uniform();
      if (what < 0.5)
        claim.work(node, {cores, model.added(cores, 32, 0.5 + 0.5 * random.uniform())}, Seconds{now});
      else if (what < 0.8)
        claim.rest(node, Seconds{now});
      else
        paid += claim.take(node, Seconds{now}).value;
    }
    for (auto& claim : claims) paid += claim.take(node, Seconds{now}).value;
    const double all = node.joules(Seconds{now}).value;
    EXPECT_NEAR(paid + node.unclaimed(Seconds{now}).value, all, 1e-9 * all) << seed;
  }
}

}  // namespace
}  // namespace tandem::sim
