#include "sim/engine/sharing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace tandem::sim {
namespace {

TEST(Sharing, OneFlowGetsItsNarrowestLink) {
  Sharing net;
  const auto wide = net.add_link(10), narrow = net.add_link(4);
  const auto flow = net.add(std::vector{wide, narrow});
  EXPECT_EQ(net.solve(), std::vector{flow});
  EXPECT_DOUBLE_EQ(net.rate(flow), 4);
  EXPECT_DOUBLE_EQ(net.used(wide), 4);
}

// Bertsekas and Gallager's example: what a flow cannot use elsewhere goes to the others.
TEST(Sharing, WhatOneCannotUseGoesToTheOthers) {
  Sharing net;
  const auto a = net.add_link(1), b = net.add_link(10);
  const auto both = net.add(std::vector{a, b}), on_a = net.add(std::vector{a}),
             on_b = net.add(std::vector{b});
  net.solve();
  EXPECT_DOUBLE_EQ(net.rate(both), 0.5);
  EXPECT_DOUBLE_EQ(net.rate(on_a), 0.5);
  EXPECT_DOUBLE_EQ(net.rate(on_b), 9.5);
}

TEST(Sharing, WeightsAndBounds) {
  Sharing net;
  const auto link = net.add_link(12);
  const auto light = net.add(std::vector{link}, 1), heavy = net.add(std::vector{link}, 2);
  net.solve();
  EXPECT_DOUBLE_EQ(net.rate(light), 4);
  EXPECT_DOUBLE_EQ(net.rate(heavy), 8);
  const auto bound = net.add(std::vector{link}, 5, 3);
  net.solve();
  EXPECT_DOUBLE_EQ(net.rate(bound), 3);
  EXPECT_DOUBLE_EQ(net.rate(light), 3);
  EXPECT_DOUBLE_EQ(net.rate(heavy), 6);
  const auto free = net.add({}, 1, 7);
  EXPECT_EQ(net.solve(), std::vector{free});
  EXPECT_DOUBLE_EQ(net.rate(free), 7);
}

TEST(Sharing, OnlyWhatIsConnectedToAChangeIsSolvedAgain) {
  Sharing net;
  const auto a = net.add_link(2), b = net.add_link(2);
  const auto on_a = net.add(std::vector{a}), on_b = net.add(std::vector{b});
  net.solve();
  const auto more = net.add(std::vector{b});
  auto changed = net.solve();
  std::sort(changed.begin(), changed.end());
  EXPECT_EQ(changed, (std::vector{on_b, more}));
  net.remove(more);
  EXPECT_EQ(net.solve(), std::vector{on_b});
  net.set_capacity(a, 5);
  EXPECT_EQ(net.solve(), std::vector{on_a});
  EXPECT_DOUBLE_EQ(net.rate(on_a), 5);
  EXPECT_FALSE(net.dirty());
}

struct Wanted {
  std::vector<LinkId> route;
  double weight, bound;
};

// The definition: no link is overfull, and each flow is held back by its bound or by a full link on which
// nobody has more for its weight.
void expect_fair(Sharing& net, const std::vector<std::pair<FlowId, Wanted>>& flows, std::size_t links) {
  std::vector<double> used(links), most(links);
  for (const auto& [id, wanted] : flows)
    for (const LinkId link : wanted.route) {
      used[link] += net.rate(id);
      most[link] = std::max(most[link], net.rate(id) / wanted.weight);
    }
  for (LinkId link = 0; link < links; ++link) {
    EXPECT_LE(used[link], net.capacity(link) * (1 + 1e-9));
    EXPECT_NEAR(used[link], net.used(link), 1e-9 * (1 + used[link]));
  }
  for (const auto& [id, wanted] : flows) {
    EXPECT_LE(net.rate(id), wanted.bound * (1 + 1e-9));
    const bool at_bound = net.rate(id) >= wanted.bound * (1 - 1e-9);
    const bool held = std::any_of(wanted.route.begin(), wanted.route.end(), [&](LinkId link) {
      return used[link] >= net.capacity(link) * (1 - 1e-9) &&
             net.rate(id) / wanted.weight >= most[link] * (1 - 1e-9);
    });
    EXPECT_TRUE(at_bound || held) << "flow " << id << " could have more than " << net.rate(id);
  }
}

TEST(Sharing, IsMaxMinFairForAnyNetworkAfterAnyHistory) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Sharing net;
    const std::size_t links = 1 + random.below(20);
    for (std::size_t i = 0; i < links; ++i) net.add_link(0.1 + 10 * random.uniform());
    std::vector<std::pair<FlowId, Wanted>> flows;
    for (int step = 0; step < 60; ++step) {
      if (!flows.empty() && random.uniform() < 0.4) {
        const std::size_t victim = random.below(flows.size());
        net.remove(flows[victim].first);
        flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(victim));
      } else {
        Wanted wanted{{},
                      random.uniform() < 0.5 ? 1 : 0.1 + random.uniform(),
                      random.uniform() < 0.7 ? kUnbounded : 0.1 + 5 * random.uniform()};
        for (LinkId link = 0; link < links; ++link)
          if (random.uniform() < 0.2) wanted.route.push_back(link);
        if (wanted.route.empty()) wanted.route.push_back(static_cast<LinkId>(random.below(links)));
        flows.emplace_back(net.add(wanted.route, wanted.weight, wanted.bound), wanted);
      }
      if (random.uniform() < 0.5) continue;  // several changes at once
      net.solve();
      expect_fair(net, flows, links);
    }
  }
}

}  // namespace
}  // namespace tandem::sim
