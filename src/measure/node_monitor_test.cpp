#include "measure/node_monitor.h"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <cmath>

#include "base/error.h"
#include "platform/fake_nvml.h"
#include "platform/fake_tree.h"

namespace tandem::measure {
namespace {

using place::Resource;

// A machine of four cores and 10 Gb/s whose counters the test moves on.
struct Recorded : platform::FakeTree {
  double busy = 100, idle = 300, received = 1e6, sent = 1e6;  // s, s, bytes, bytes

  Recorded() {
    write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 750000 kB\n");
    write("proc/cpuinfo", "cpu MHz\t\t: 2596.130\n");
    write("proc/net/route", "Iface\nlan\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n");
    write("sys/devices/system/cpu/online", "0-3\n");
    write("sys/class/net/lan/speed", "10000\n");
    record();
  }
  void record() const {
    const double a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto ticks = [&](double seconds) { return std::to_string(std::llround(seconds * a_second)); };
    write("proc/stat", "cpu  " + ticks(busy) + " 0 0 " + ticks(idle) + " 0 0 0 0 0 0\n");
    write("sys/class/net/lan/statistics/rx_bytes", std::to_string(std::llround(received)) + "\n");
    write("sys/class/net/lan/statistics/tx_bytes", std::to_string(std::llround(sent)) + "\n");
  }
  // Ten seconds of four cores pass.
  void pass(double cpu_share, double network_share) {
    busy += 40 * cpu_share;
    idle += 40 * (1 - cpu_share);
    sent += 10 * network_share * 1.25e9;
    record();
  }
  MonitorOptions options() const { return {.proc = root() / "proc", .sys = root() / "sys"}; }
};

bool mentions(const Look& look, const std::string& part) {
  for (const std::string& line : look.unknown)
    if (line.find(part) != std::string::npos) return true;
  return false;
}

TEST(NodeMonitor, SharesAreOfTheTimeBetweenTwoLooks) {
  Recorded machine;
  NodeMonitor monitor(machine.options());
  const Look first = monitor.look({100});
  EXPECT_EQ(first.facts, (place::NodeFacts{4, 2596.130e6, 1000000 * kKiB, 0, 0, 1.25e9}));
  EXPECT_FALSE(first.observation);
  EXPECT_TRUE(mentions(first, "first look"));

  machine.pass(0.25, 0.5);
  const Look second = monitor.look({110});
  ASSERT_TRUE(second.observation);
  EXPECT_EQ(second.observation->at.value, 110);
  EXPECT_NEAR(second.observation->in_use[Resource::cpu], 0.25, 1e-9);
  EXPECT_NEAR(second.observation->in_use[Resource::memory], 0.25, 1e-9);
  EXPECT_NEAR(second.observation->in_use[Resource::network], 0.5, 1e-9);
  EXPECT_EQ(second.observation->latency.value, 0) << "this is the master";
  EXPECT_TRUE(second.unknown.empty());

  machine.pass(1, 0);
  const Look third = monitor.look({120});
  EXPECT_NEAR(third.observation.value().in_use[Resource::cpu], 1, 1e-9) << "what was before is forgotten";
}

TEST(NodeMonitor, ALookTooSoonObservesNothingAndLosesNothing) {
  Recorded machine;
  NodeMonitor monitor(machine.options());
  monitor.look({0});
  EXPECT_FALSE(monitor.look({0}).observation);
  machine.pass(0.5, 0.5);
  EXPECT_NEAR(monitor.look({10}).observation.value().in_use[Resource::network], 0.5, 1e-9);
}

TEST(NodeMonitor, AnInterfaceWithoutASpeedIsSaidAndCanBeStated) {
  Recorded machine;
  machine.write("sys/class/net/lan/speed", "-1\n");
  NodeMonitor blind(machine.options());
  auto options = machine.options();
  options.bandwidth = 2.5e9;
  NodeMonitor told(options);
  blind.look({0});
  told.look({0});
  machine.pass(0, 0.5);
  const Look without = blind.look({10}), with = told.look({10});
  EXPECT_TRUE(mentions(without, "lan does not say how fast it is"));
  EXPECT_EQ(without.facts.bandwidth, 0) << "no job that demands bandwidth is sent there";
  EXPECT_TRUE(without.observation);
  EXPECT_NEAR(with.observation.value().in_use[Resource::network], 0.25, 1e-9);
  EXPECT_TRUE(with.unknown.empty());
}

TEST(NodeMonitor, AnotherInterfaceOrTooMuchOnItIsSaid) {
  Recorded machine;
  NodeMonitor monitor(machine.options());
  monitor.look({0});
  machine.sent = 0;
  machine.pass(0, 0);
  const Look restarted = monitor.look({10});
  EXPECT_FALSE(restarted.observation);
  EXPECT_TRUE(mentions(restarted, "another one"));
  machine.pass(0, 2);
  const Look flooded = monitor.look({20});
  EXPECT_EQ(flooded.observation.value().in_use[Resource::network], 1);
  EXPECT_TRUE(mentions(flooded, "2.00 times its bandwidth"));
}

TEST(NodeMonitor, GpusAreAMeanAndTheFullestOfTheirMemories) {
  Recorded machine;
  platform::FakeNvml fake;
  fake.percent = {20, 60};
  fake.used = {0, 12'000'000'000u};
  std::string why;
  NodeMonitor monitor(machine.options(), platform::Nvml::open(why, fake.lookup()));
  monitor.look({0});
  machine.pass(0, 0);
  const Look look = monitor.look({10});
  EXPECT_EQ(look.facts.gpus, 2);
  EXPECT_EQ(look.facts.gpu_memory, 16'000'000'000);
  EXPECT_NEAR(look.observation.value().in_use[Resource::gpu], 0.4, 1e-9);
  EXPECT_NEAR(look.observation.value().in_use[Resource::gpu_memory], 0.75, 1e-9);
  fake.failing = {"nvmlDeviceGetMemoryInfo"};
  machine.pass(0, 0);
  const Look fallen = monitor.look({20});
  EXPECT_EQ(fallen.facts.gpus, 0);
  EXPECT_TRUE(mentions(fallen, "GPU 1 (Fake GPU): it does not answer"));
}

TEST(NodeMonitor, AMasterOutOfReachLeavesTheNodeUnobserved) {
  Recorded machine;
  auto options = machine.options();
  bool reachable = true;
  options.latency = [&] {
    if (!reachable) throw SystemError("master:7 did not answer");
    return Seconds{0.002};
  };
  NodeMonitor monitor(options);
  monitor.look({0});
  machine.pass(0, 0);
  EXPECT_EQ(monitor.look({10}).observation.value().latency.value, 0.002);
  reachable = false;
  machine.pass(0, 0);
  const Look cut_off = monitor.look({20});
  EXPECT_FALSE(cut_off.observation);
  EXPECT_TRUE(mentions(cut_off, "master:7 did not answer"));
}

TEST(NodeMonitor, TheCatalogueNoticesWhatIsPulledOut) {
  Recorded machine;
  NodeMonitor monitor(machine.options());
  place::Catalogue catalogue;
  EXPECT_EQ(enter(catalogue, "here", monitor.look({0})), place::Found::joined);
  machine.pass(0.5, 0);
  EXPECT_EQ(enter(catalogue, "here", monitor.look({10})), place::Found::same);
  EXPECT_EQ(catalogue.nodes().at("here").seen.size(), 1u);
  machine.write("proc/cpuinfo", "cpu MHz\t\t: 1200.000\n");
  machine.pass(0.5, 0);
  EXPECT_EQ(enter(catalogue, "here", monitor.look({20})), place::Found::same) << "a clock that breathes";
  machine.write("sys/devices/system/cpu/online", "0-2\n");
  machine.pass(0.5, 0);
  EXPECT_EQ(enter(catalogue, "here", monitor.look({30})), place::Found::changed);
  EXPECT_EQ(catalogue.nodes().at("here").facts.cores, 3);
}

TEST(NodeMonitor, AMachineThatDoesNotTellCannotBeWatched) {
  Recorded machine;
  NodeMonitor monitor(machine.options());
  machine.remove("proc/meminfo");
  try {
    monitor.look({0});
    FAIL() << "no error";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("meminfo does not tell how much memory"), std::string::npos);
  }
}

TEST(NodeMonitor, WatchesThisMachineWithinItsShareOfACore) {
  NodeMonitor monitor;
  place::Catalogue catalogue;
  double now = 0;
  Look look = monitor.look({now});
  EXPECT_EQ(enter(catalogue, "here", look), place::Found::joined);
  // The kernel counts in ticks: a look may come too soon for a share, and then another one follows.
  while (!look.observation) {
    now += 10;
    look = monitor.look({now});
    EXPECT_GT(look.cost.value, 0);
    EXPECT_GE(look.next.value, 10);
    EXPECT_LE(look.cost / look.next, 0.005);
    EXPECT_EQ(enter(catalogue, "here", look), place::Found::same);
  }
  EXPECT_EQ(look.facts.cores, sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(look.observation->in_use[Resource::memory], 0);
  EXPECT_EQ(catalogue.nodes().at("here").seen.size(), 1u);
}

TEST(NodeMonitor, ADearLookLengthensThePeriod) {
  Recorded machine;
  auto options = machine.options();
  // Stands for a slow look: burns CPU time of this thread until enough is counted.
  options.latency = [] {
    const auto spent = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    for (const double start = spent(); spent() - start < 0.06;) {
    }
    return Seconds{0};
  };
  NodeMonitor monitor(options);
  const Look look = monitor.look({0});
  EXPECT_GE(look.cost.value, 0.06);
  EXPECT_GE(look.next.value, 12);
  EXPECT_NEAR(look.next.value, look.cost.value / 0.005, 1e-9);
}

}  // namespace
}  // namespace tandem::measure
