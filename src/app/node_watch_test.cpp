#include "app/node_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "platform/fake_tree.h"

namespace tandem::app {
namespace {

using place::Resource;

// Ten seconds of a machine of four CPUs and 8 GiB; `busy` by CPU.
measure::Look a_look(const std::vector<double>& busy, double memory_in_use = 0) {
  measure::Look look;
  look.facts.memory = 8 * kGiB;
  look.since = Seconds{10};
  for (std::size_t cpu = 0; cpu < busy.size(); ++cpu) look.busy[static_cast<int>(cpu)] = Seconds{busy[cpu]};
  look.observation.emplace();
  look.observation->in_use[Resource::memory] = memory_in_use;
  return look;
}

const std::vector<WatchedNode> kTwoNodes{{{0, 1}, 2 * kGiB}, {{2, 3}, 2 * kGiB}};

TEST(NodeWatch, ANodeIsUsedByOthersAsFarAsItsCpusWereBusyWithoutUs) {
  measure::OwnUse own;
  own.cpu = {{0, Seconds{6}}, {2, Seconds{9.5}}};
  const auto loads = loads_of(a_look({10, 3, 9, 0}), own, kTwoNodes);
  EXPECT_DOUBLE_EQ(*loads[0].cpu, 0.35);  // 4 and 3 of 20 s
  EXPECT_DOUBLE_EQ(*loads[1].cpu, 0) << "what is counted of us may run ahead of the machine's count a little";
  EXPECT_FALSE(loads[0].network) << "nobody tells how fast it is";
}

TEST(NodeWatch, ACpuThatIsNotToldOfLeavesTheNodeUnknown) {
  const auto loads = loads_of(a_look({1, 1, 1}), {}, kTwoNodes);
  EXPECT_TRUE(loads[0].cpu);
  EXPECT_FALSE(loads[1].cpu);
}

TEST(NodeWatch, OthersUseTheMemoryThatNoNodeClaimsFirst) {
  measure::OwnUse own;
  own.memory = kGiB;
  // 4 of 8 GiB are nobody's. In use: 4 GiB, 6 GiB, of which 1 GiB is ours.
  EXPECT_DOUBLE_EQ(*loads_of(a_look({0, 0, 0, 0}, 0.5), own, kTwoNodes)[0].memory, 0);
  EXPECT_DOUBLE_EQ(*loads_of(a_look({0, 0, 0, 0}, 0.75), own, kTwoNodes)[0].memory, 0.25);
}

TEST(NodeWatch, WhatWasNotObservedIsNotSaid) {
  auto look = a_look({1, 1, 1, 1});
  look.observation.reset();
  EXPECT_EQ(loads_of(look, {}, kTwoNodes)[0], NodeLoad{});
}

TEST(NodeWatch, NewsIsAShareThatMovedByFivePointsOrBecameKnown) {
  const NodeLoad said{.cpu = 0.5, .network = 0.5, .latency = Seconds{0.001}};
  const auto news = [&](auto change) {
    NodeLoad now = said;
    change(now);
    return says_something_new(said, now);
  };
  EXPECT_FALSE(news([](NodeLoad&) {}));
  EXPECT_FALSE(news([](NodeLoad& l) { l.cpu = 0.54, l.network = 0.46; }));
  EXPECT_TRUE(news([](NodeLoad& l) { l.cpu = 0.56; }));
  EXPECT_TRUE(news([](NodeLoad& l) { l.network = 0.44; }));
  EXPECT_TRUE(news([](NodeLoad& l) { l.network.reset(); }));
  EXPECT_TRUE(news([](NodeLoad& l) { l.gpu = 0.0; }));
  EXPECT_FALSE(news([](NodeLoad& l) { l.latency = Seconds{0.0013}; }));
  EXPECT_TRUE(news([](NodeLoad& l) { l.latency = Seconds{0.002}; }));
}

// A machine of two CPUs whose counters the test moves on.
struct Recorded : platform::FakeTree {
  double busy = 100, idle = 100;  // s, of each CPU

  Recorded() {
    write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 1000000 kB\n");
    write("sys/devices/system/cpu/online", "0-1\n");
    pass(0, 0);
  }
  void pass(double seconds, double share) {
    busy += seconds * share;
    idle += seconds * (1 - share);
    const double a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto line = [&](const std::string& name, double cpus) {
      return name + " " + std::to_string(std::llround(cpus * busy * a_second)) + " 0 0 " +
             std::to_string(std::llround(cpus * idle * a_second)) + " 0 0 0 0 0 0\n";
    };
    write("proc/stat", line("cpu ", 2) + line("cpu0", 1) + line("cpu1", 1));
  }
};

TEST(NodeWatch, LooksAtItsPaceAndSaysOnlyWhatIsNew) {
  Recorded machine;
  NodeWatch watch({{{0}, kMiB}, {{1}, kMiB}},
                  {.proc = machine.root() / "proc", .sys = machine.root() / "sys"});
  EXPECT_TRUE(watch.look({1000}).empty()) << "the first look has nothing to compare with";
  EXPECT_GE(watch.until_next({1000}).value, 10);
  machine.pass(5, 0.5);
  EXPECT_TRUE(watch.look({1005}).empty()) << "it is not time";
  // However dear the first looks were here, an hour later it is time again.
  machine.pass(3595, 0.5);
  const auto seen = watch.look({4600});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].node, 1);
  EXPECT_NEAR(*seen[1].load.cpu, 0.5, 0.001);
  machine.pass(3600, 0.52);
  EXPECT_TRUE(watch.look({8200}).empty()) << "two points are no news";
  machine.pass(3600, 0.56);
  EXPECT_EQ(watch.look({11800}).size(), 2U);
  machine.remove("proc/stat");
  const auto blind = watch.look({15400});
  ASSERT_EQ(blind.size(), 2U);
  EXPECT_EQ(blind[0].load, NodeLoad{}) << "what cannot be seen any more is said, once";
  EXPECT_TRUE(watch.look({19000}).empty());
}

}  // namespace
}  // namespace tandem::app
