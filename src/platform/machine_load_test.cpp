#include "platform/machine_load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/fake_tree.h"

namespace tandem::platform {
namespace {

// What a server with two network cards said.
struct Recorded : FakeTree {
  Recorded() {
    write("proc/stat",
          "cpu  5157500 1210900 787100 1944700 22900 100 3000 16600 40 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
    write("proc/meminfo",
          "MemTotal:       24684100 kB\nMemFree:        14602064 kB\nMemAvailable:   18513075 kB\n");
    write("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2596.130\n");
    write("proc/net/route",
          "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
          "wlan0\t00000000\t0102A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
          "eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
          "eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n");
    write("sys/class/net/eth0/statistics/rx_bytes", "383641924\n");
    write("sys/class/net/eth0/statistics/tx_bytes", "851049\n");
    write("sys/class/net/eth0/speed", "10000\n");
    write("sys/devices/system/cpu/online", "0-3,8,10-11\n");
    write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3100000\n");
  }
  MachineLoad load() const { return MachineLoad(root() / "proc", root() / "sys"); }
};

TEST(MachineLoad, ReadsWhatWasRecorded) {
  const Recorded recorded;
  const MachineLoad load = recorded.load();
  const double a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  ASSERT_TRUE(load.cpu());
  EXPECT_DOUBLE_EQ(load.cpu()->total.value, 9142800 / a_second) << "guests are part of user, not on top";
  EXPECT_DOUBLE_EQ(load.cpu()->idle.value, 1967600 / a_second);
  ASSERT_EQ(load.cpus().size(), 1u) << "the line of all of them is none of them";
  EXPECT_DOUBLE_EQ(load.cpus().at(0).total.value, 8 / a_second);
  EXPECT_DOUBLE_EQ(load.cpus().at(0).idle.value, 2 / a_second);
  ASSERT_TRUE(load.memory());
  EXPECT_EQ(load.memory()->total, 24684100 * kKiB);
  EXPECT_EQ(load.memory()->available, 18513075 * kKiB);
  EXPECT_EQ(load.cores(), 7);
  EXPECT_EQ(load.clock(), 3.1e9);
  const auto uplink = load.uplink();
  ASSERT_TRUE(uplink);
  EXPECT_EQ(uplink->name, "eth0") << "its route is the cheaper one";
  EXPECT_EQ(uplink->speed, 1.25e9);
  EXPECT_EQ(uplink->received, 383641924);
  EXPECT_EQ(uplink->sent, 851049);
}

TEST(MachineLoad, AnInterfaceMayNotSayItsSpeed) {
  const Recorded recorded;
  recorded.write("sys/class/net/eth0/speed", "-1\n");
  ASSERT_TRUE(recorded.load().uplink());
  EXPECT_FALSE(recorded.load().uplink()->speed);
}

TEST(MachineLoad, WithoutCpufreqTheClockIsTheOneOfNow) {
  const Recorded recorded;
  recorded.remove("sys/devices/system/cpu/cpu0/cpufreq");
  EXPECT_EQ(recorded.load().clock(), 2596.130e6);
}

TEST(MachineLoad, WhatIsMissingOrCutIsNoNumber) {
  const Recorded recorded;
  recorded.write("proc/stat", "cpu  5157500 1210900 787100\n");
  EXPECT_FALSE(recorded.load().cpu());
  recorded.write("proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 200 kB\n");
  EXPECT_FALSE(recorded.load().memory()) << "more available than there is";
  recorded.write("sys/devices/system/cpu/online", "3-1\n");
  EXPECT_FALSE(recorded.load().cores());
  recorded.remove("sys/class/net/eth0/statistics/tx_bytes");
  EXPECT_FALSE(recorded.load().uplink());
  recorded.remove("proc");
  recorded.remove("sys");
  const MachineLoad nothing = recorded.load();
  EXPECT_FALSE(nothing.cpu() || nothing.memory() || nothing.cores() || nothing.clock() || nothing.uplink());
}

TEST(MachineLoad, ReadsThisMachine) {
  const MachineLoad load;
  ASSERT_TRUE(load.cpu());
  EXPECT_GT(load.cpu()->total.value, 0);
  EXPECT_LE(load.cpu()->idle, load.cpu()->total);
  ASSERT_TRUE(load.cores());
  EXPECT_EQ(*load.cores(), sysconf(_SC_NPROCESSORS_ONLN));
  ASSERT_TRUE(load.memory());
  EXPECT_GT(load.memory()->available, 0);
}

}  // namespace
}  // namespace tandem::platform
