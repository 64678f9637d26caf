#include "sim/engine/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace tandem::sim {
namespace {

TEST(Topology, AStarIsTwoLinksAway) {
  Engine engine;
  const auto net = Topology::star(engine, 4, {100, 0.1});
  EXPECT_TRUE(net.route(2, 2).links.empty());
  const Route there = net.route(0, 3), back = net.route(3, 0);
  EXPECT_EQ(there.links.size(), 2u);
  EXPECT_DOUBLE_EQ(there.latency, 0.2);
  for (const LinkId link : there.links) EXPECT_EQ(std::count(back.links.begin(), back.links.end(), link), 0);
}

// Both ways at once take as long as one way alone: links are duplex.
TEST(Topology, BothDirectionsAreFree) {
  Engine engine;
  const auto net = Topology::star(engine, 2, {10, 0});
  engine.transfer(net.route(0, 1).links, 100, 0, 1);
  engine.transfer(net.route(1, 0).links, 100, 0, 2);
  ASSERT_EQ(engine.next()->size(), 2u);
  EXPECT_DOUBLE_EQ(engine.now(), 10);
}

TEST(Topology, LeavesOfAFatTreeShareTheirWayUp) {
  Engine engine;
  const auto net = Topology::fat_tree(engine, 4, 2, {10, 0.1}, {10, 0.5});
  EXPECT_EQ(net.route(0, 1).links.size(), 2u);
  EXPECT_EQ(net.route(0, 2).links.size(), 4u);
  EXPECT_DOUBLE_EQ(net.route(0, 2).latency, 1.2);
  engine.transfer(net.route(0, 2).links, 100, 0, 1);
  engine.transfer(net.route(1, 3).links, 100, 0, 2);
  ASSERT_EQ(engine.next()->size(), 2u);
  EXPECT_DOUBLE_EQ(engine.now(), 20) << "two flows through one cable";
}

TEST(Topology, ATorusGoesTheShorterWayRound) {
  Engine engine;
  const auto net = Topology::torus(engine, {4, 3}, {1, 1});
  EXPECT_EQ(net.nodes(), 12u);
  EXPECT_EQ(net.route(0, 1).links.size(), 1u);
  EXPECT_EQ(net.route(0, 3).links.size(), 1u) << "round the back";
  EXPECT_EQ(net.route(0, 2).links.size(), 2u);
  EXPECT_EQ(net.route(0, 4 + 1).links.size(), 2u);
  EXPECT_EQ(net.route(0, 8 + 3).links.size(), 2u);
  // There and back are different links of the same cables.
  std::set<LinkId> links;
  for (const LinkId link : Route(net.route(0, 3)).links) links.insert(link);
  for (const LinkId link : Route(net.route(3, 0)).links) links.insert(link);
  EXPECT_EQ(links.size(), 2u);
}

TEST(Topology, AnArbitraryNetworkTakesTheWayOfLeastLatency) {
  Engine engine;
  // 0 - 3 - 1 is quick, 0 - 1 directly is slow; 2 hangs on switch 3.
  const auto net =
      Topology::arbitrary(engine, 3, 1, {{0, 1, {10, 5}}, {0, 3, {10, 1}}, {3, 1, {10, 1}}, {2, 3, {10, 1}}});
  EXPECT_EQ(net.route(0, 1).links.size(), 2u);
  EXPECT_DOUBLE_EQ(net.route(0, 1).latency, 2);
  EXPECT_DOUBLE_EQ(net.route(2, 0).latency, 2);
}

TEST(Topology, ImpossibleNetworksAreExplained) {
  Engine engine;
  EXPECT_THROW(Topology::star(engine, 2, {0, 0}), UserError);
  EXPECT_THROW(Topology::star(engine, 2, {1, -1}), UserError);
  EXPECT_THROW(Topology::fat_tree(engine, 2, 0, {1, 0}, {1, 0}), UserError);
  EXPECT_THROW(Topology::torus(engine, {2, 0}, {1, 0}), UserError);
  EXPECT_THROW(Topology::arbitrary(engine, 2, 0, {}), UserError);
  EXPECT_THROW(Topology::arbitrary(engine, 2, 0, {{0, 7, {1, 0}}}), UserError);
  EXPECT_THROW(Topology::arbitrary(engine, 2, 0, {{0, 0, {1, 0}}}), UserError);
}

}  // namespace
}  // namespace tandem::sim
