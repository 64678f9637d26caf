#include "app/worlds.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/complaint_for_test.h"
#include "platform/temporary.h"
#include "spec/parse_sim.h"

namespace tandem::app {
namespace {

constexpr Bytes kGiB = Bytes{1} << 30;

spec::Cluster two_kinds(int cores = 2) {
  spec::Cluster cluster;
  cluster.devices = {
      {.name = "Quick", .cores = cores, .clock = 2e9, .memory = kGiB, .idle_watts = 50, .max_watts = 250},
      {.name = "Thrifty", .cores = 1, .clock = 1e9, .memory = kGiB, .idle_watts = 5, .max_watts = 15},
      {.name = "V100", .gpu = true, .cores = 5120, .clock = 1e9, .idle_watts = 40, .max_watts = 300}};
  cluster.types = {{.name = "quick", .devices = {{"Quick", 1}, {"V100", 2}}},
                   {.name = "thrifty", .devices = {{"Thrifty", 1}}}};
  cluster.nodes = {{"quick", 1}, {"thrifty", 2}};
  return cluster;
}

platform::Topology machine(int cpus) {
  platform::Topology out;
  out.cpus.resize(static_cast<std::size_t>(cpus));
  for (int i = 0; i < cpus; ++i) out.cpus[static_cast<std::size_t>(i)].id = i;
  return out;
}

TEST(Worlds, TheFastestCoreHasSpeedFactorOneAndGpusAreCounted) {
  const auto groups = simulated_nodes(two_kinds());
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "quick");
  EXPECT_EQ(groups[0].capacity.cores, 2);
  EXPECT_EQ(groups[0].capacity.gpus, 2);
  EXPECT_EQ(groups[0].traits.accelerator, "V100");
  EXPECT_DOUBLE_EQ(groups[0].traits.speed_factor, 1);
  EXPECT_DOUBLE_EQ(groups[1].traits.speed_factor, 0.5);
  EXPECT_DOUBLE_EQ(groups[0].power->busy.value, 250 + 2 * 300);
  EXPECT_EQ(groups[1].type, groups[2].type);
}

TEST(Worlds, ThisMachineIsDealtOutAndSharedWhereThereAreTooFewCores) {
  auto cluster = two_kinds();
  const auto nodes = local_nodes(cluster, machine(3), 8 * kGiB, 3);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(nodes[1].cpus, (std::vector<int>{2}));
  EXPECT_EQ(nodes[2].cpus, (std::vector<int>{0}));
  EXPECT_DOUBLE_EQ(nodes[1].speed, 0.5);
  EXPECT_EQ(nodes[0].gpus, (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(nodes[1].gpus.empty());
}

TEST(Worlds, WhatThisMachineCannotPlayIsRefused) {
  EXPECT_NE(complaint([] { local_nodes(two_kinds(8), machine(2), 8 * kGiB, 2); }).find("8 cores"),
            std::string::npos);
  EXPECT_NE(complaint([] { local_nodes(two_kinds(), machine(3), 8 * kGiB, 1); }).find("2 GPUs together"),
            std::string::npos);
  EXPECT_NE(complaint([] { local_nodes(two_kinds(), machine(2), kGiB, 2); }).find("memory"),
            std::string::npos);
  EXPECT_NE(complaint([] { make_world({.world = "lokal"}); }).find("local"), std::string::npos);
}

// Opening it asks every GPU for all it can do: who measures and who hands out share one.
TEST(Worlds, NvmlIsOpenedOncePerWorld) {
  const platform::TemporaryFolder folder;
  ::setenv("TANDEM_NVML", FAKE_NVML, 1);
  ::setenv("FAKE_NVML_STATE", (folder.path() / "gpus").c_str(), 1);
  void* recording = ::dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(recording);
  const auto users = reinterpret_cast<int (*)()>(::dlsym(recording, "fake_nvml_users"));
  ASSERT_TRUE(users);
  {
    const auto hosted = make_world({.run = "one", .folder = folder.path(), .here = {.asked = spec::SystemSpace{}}});
    ASSERT_TRUE(hosted.gpus);
    EXPECT_EQ(users(), 1);
  }
  EXPECT_EQ(users(), 0);
  ::dlclose(recording);
  ::unsetenv("TANDEM_NVML");
  ::unsetenv("FAKE_NVML_STATE");
}

}  // namespace
}  // namespace tandem::app
