#include "sim/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace tandem::sim {
namespace {

std::map<Token, double> run(Engine& engine) {
  std::map<Token, double> at;
  while (const auto* done = engine.next())
    for (const Token token : *done) at[token] = engine.now();
  return at;
}

TEST(Engine, ComputationsShareTheCoresOfAHost) {
  Engine engine;
  const auto host = engine.add_host(10, 2);
  for (Token token = 1; token <= 3; ++token) engine.compute(host, 20, token);
  engine.compute(host, 0, 9);
  const auto at = run(engine);
  EXPECT_DOUBLE_EQ(at.at(9), 0);
  EXPECT_DOUBLE_EQ(at.at(1), 3);  // three on two cores: two thirds each
  EXPECT_DOUBLE_EQ(at.at(3), 3);
  EXPECT_EQ(engine.completed(), 4u);
  EXPECT_EQ(engine.active(), 0u);
}

TEST(Engine, ATransferTakesItsLatencyThenItsShare) {
  Engine engine;
  const auto link = engine.add_link(100);
  engine.transfer(std::vector{link}, 100, 0.5, 1);
  engine.transfer(std::vector{link}, 100, 0.5, 2);
  engine.transfer(std::vector{link}, 50, 1.5, 3);
  const auto at = run(engine);
  // 0.5 to 1.5: two share (50 left each); 1.5 to 3: three share, all have 50 left.
  EXPECT_DOUBLE_EQ(at.at(1), 3);
  EXPECT_DOUBLE_EQ(at.at(2), 3);
  EXPECT_DOUBLE_EQ(at.at(3), 3);
}

TEST(Engine, NothingToSendOrNothingInTheWayIsThereAfterTheLatency) {
  Engine engine;
  const auto link = engine.add_link(1);
  engine.transfer(std::vector{link}, 0, 0.25, 1);
  engine.transfer({}, 1e9, 0.5, 2);
  engine.transfer({}, 10, 0, 3, 1, 5);
  const auto at = run(engine);
  EXPECT_DOUBLE_EQ(at.at(1), 0.25);
  EXPECT_DOUBLE_EQ(at.at(2), 0.5);
  EXPECT_DOUBLE_EQ(at.at(3), 2);
}

TEST(Engine, WhatIsCancelledTellsWhatIsLeftAndLeavesRoom) {
  Engine engine;
  const auto host = engine.add_host(1, 1);
  const auto link = engine.add_link(10);
  const auto slow = engine.compute(host, 10, 1);
  const auto sent = engine.transfer(std::vector{link}, 100, 1, 2);
  engine.wait_until(4, 3);
  ASSERT_EQ(*engine.next(), std::vector<Token>{3});
  EXPECT_DOUBLE_EQ(engine.cancel(slow), 6);
  EXPECT_DOUBLE_EQ(engine.cancel(sent), 70);
  EXPECT_DOUBLE_EQ(engine.cancel(sent), 0) << "it is gone";
  EXPECT_FALSE(engine.alive(slow));
  engine.compute(host, 1, 4);
  ASSERT_EQ(*engine.next(), std::vector<Token>{4});
  EXPECT_DOUBLE_EQ(engine.now(), 5);
  EXPECT_EQ(engine.next(), nullptr);
}

TEST(Engine, AHostThatIsDownKeepsItsWorkUntilItIsBack) {
  Engine engine;
  const auto host = engine.add_host(1, 1);
  engine.compute(host, 10, 1);
  engine.wait_until(2, 2);
  engine.next();
  engine.set_host(host, 1, 0);
  engine.wait_until(5, 3);
  engine.next();
  engine.set_host(host, 2, 1);
  EXPECT_DOUBLE_EQ(run(engine).at(1), 9);
}

// Whatever is started is completed, once; bytes and flops that were asked for are those that were done.
TEST(Engine, NothingIsLostAndEqualRunsAreEqual) {
  const auto play = [](std::uint64_t seed) {
    Random random(seed);
    Engine engine;
    std::vector<HostId> hosts;
    std::vector<LinkId> links;
    for (int i = 0; i < 5; ++i) hosts.push_back(engine.add_host(1 + random.uniform(), 1 + i % 3));
    for (int i = 0; i < 7; ++i) links.push_back(engine.add_link(1 + 9 * random.uniform()));
    Token started = 0;
    std::vector<std::pair<double, Token>> seen;
    const auto start = [&] {
      if (random.uniform() < 0.5) {
        engine.compute(hosts[random.below(hosts.size())], 3 * random.uniform(), started++);
      } else {
        std::vector<LinkId> route;
        for (const auto link : links)
          if (random.uniform() < 0.3) route.push_back(link);
        if (route.empty()) route.push_back(links[0]);
        engine.transfer(route, 20 * random.uniform(), 0.1 * random.uniform(), started++);
      }
    };
    for (int i = 0; i < 20; ++i) start();
    while (const auto* done = engine.next())
      for (const Token token : *done) {
        seen.emplace_back(engine.now(), token);
        if (started < 2000) start();
      }
    EXPECT_EQ(seen.size(), 2000u);
    EXPECT_EQ(engine.active(), 0u);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end(), [](auto& a, auto& b) { return a.first < b.first; }));
    std::vector<Token> tokens;
    for (const auto& [at, token] : seen) tokens.push_back(token);
    std::sort(tokens.begin(), tokens.end());
    EXPECT_EQ(std::unique(tokens.begin(), tokens.end()), tokens.end());
    return seen;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(play(seed), play(seed));
}

}  // namespace
}  // namespace tandem::sim
