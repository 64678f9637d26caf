#include "sim/step/devices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/step/devices_placement.h"
#include "sim/step/step_testing.h"

namespace tandem::sim {
namespace {

using step_testing::cluster;
using step_testing::workload;

// When all copies of 10 GB, begun together, have arrived.
double copy_time(Engine& engine, Devices& devices, const std::vector<std::pair<DeviceId, DeviceId>>& pairs) {
  const double begun = engine.now();
  Token token = 0;
  for (const auto& [from, to] : pairs) {
    const Path& path = devices.path(from, to);
    engine.transfer(path.links, 10e9, path.latency, ++token);
  }
  while (engine.next()) {
  }
  return engine.now() - begun;
}

std::vector<DeviceId> numbers(const std::vector<DeviceSlot>& slots) {
  std::vector<DeviceId> out;
  for (const DeviceSlot& slot : slots) out.push_back(slot.device);
  return out;
}

// Devices of a node are 0: processor, 1 to 4: GPUs.
TEST(Devices, GpusBehindASwitchShareTheirUplinkButNotTheirLanes) {
  auto spec = cluster(1, 4);
  spec.types[0].gpus_an_uplink = 2;
  Engine engine;
  Devices devices(engine, spec);
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 0}}), 1);
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 0}, {2, 0}}), 2) << "one uplink";
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 0}, {3, 0}}), 1) << "two uplinks";
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 0}, {0, 2}}), 1) << "duplex";
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 2}, {2, 0}}), 1) << "neighbours do not need the uplink";
  EXPECT_TRUE(devices.path(0, 0).links.empty());
}

TEST(Devices, NvlinkIsARingAndTheShorterWayIsTaken) {
  auto spec = cluster(1, 8);
  spec.types[0].nvlink = 20e9;
  Engine engine;
  Devices devices(engine, spec);
  EXPECT_EQ(devices.path(1, 8).links.size(), 1u);
  EXPECT_EQ(devices.path(1, 4).links.size(), 3u);
  EXPECT_EQ(devices.path(4, 1).links.size(), 3u);
  EXPECT_EQ(devices.path(8, 3).links.size(), 3u);
  EXPECT_TRUE(devices.path(1, 2).crosses[static_cast<std::size_t>(LinkClass::nvlink)]);
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 2}, {2, 1}, {2, 3}, {8, 1}}), 0.5);
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 3}, {2, 3}}), 1) << "they meet on the second cable";
  EXPECT_DOUBLE_EQ(devices.capacity(devices.path(1, 2).links[0]), 20e9);
}

TEST(Devices, TwoGpusHaveOneCableBetweenThem) {
  auto spec = cluster(1, 2);
  spec.types[0].nvlink = 20e9;
  Engine engine;
  Devices devices(engine, spec);
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 2}, {2, 1}}), 0.5);
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 2}, {1, 2}}), 1);
}

TEST(Devices, NodesAreReachedThroughTheNetworkWithItsLatency) {
  auto spec = cluster(3, 1);
  spec.network.latency = 0.25;
  Engine engine;
  Devices devices(engine, spec);
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 3}}), 10.5);
  EXPECT_DOUBLE_EQ(copy_time(engine, devices, {{1, 3}, {0, 4}}), 20.5) << "one cable leaves a node";
  const Path& path = devices.path(1, 3);
  EXPECT_TRUE(path.crosses[static_cast<std::size_t>(LinkClass::network)]);
  EXPECT_TRUE(path.crosses[static_cast<std::size_t>(LinkClass::pcie)]);
  EXPECT_FALSE(devices.path(0, 2).crosses[static_cast<std::size_t>(LinkClass::pcie)]);
  EXPECT_DOUBLE_EQ(devices.capacity(path.links[1]), 1e9);
}

TEST(Devices, CapacitiesAreThoseOfTheLinksWhateverTheNetwork) {
  auto tree = cluster(4, 1);
  tree.network.kind = "fat-tree";
  tree.network.nodes_a_leaf = 2;
  tree.network.uplink = 3e9;
  Engine first;
  Devices in_tree(first, tree);
  const Path& up = in_tree.path(0, 4);  // processor of node 0 to that of node 2
  ASSERT_EQ(up.links.size(), 4u);
  EXPECT_DOUBLE_EQ(in_tree.capacity(up.links[0]), 1e9);
  EXPECT_DOUBLE_EQ(in_tree.capacity(up.links[1]), 3e9);
  auto cables = cluster(2, 1);
  cables.network = {};
  cables.network.kind = "cables";
  cables.network.switches = 1;
  cables.network.cables = {{0, 2, 5e9, 0}, {2, 1, 7e9, 0}};
  Engine second;
  Devices cabled(second, cables);
  const Path& way = cabled.path(0, 2);
  ASSERT_EQ(way.links.size(), 2u);
  EXPECT_DOUBLE_EQ(cabled.capacity(way.links[0]), 5e9);
  EXPECT_DOUBLE_EQ(cabled.capacity(way.links[1]), 7e9);
}

TEST(Devices, NoBandwidthIsAnErrorOnlyWhereSomethingMustPass) {
  auto spec = cluster(2, 2);
  spec.network.bandwidth = 0;
  spec.types[0].pcie = 0;
  Engine engine;
  Devices devices(engine, spec);
  EXPECT_TRUE(mentions(complaint([&] { devices.path(1, 2); }), "pcie"));
  EXPECT_TRUE(mentions(complaint([&] { devices.path(0, 3); }), "no bandwidth"));
  EXPECT_TRUE(mentions(complaint([&] { devices.reading(1); }), "storage"));
  EXPECT_EQ(devices.feeding(1), nullptr);
}

TEST(Devices, WhatIsNotDescribedIsSaid) {
  Engine engine;
  auto spec = cluster(1, 1);
  spec.nodes[0].type = "bix";
  EXPECT_TRUE(mentions(complaint([&] { Devices(engine, spec); }), "did you mean 'box'"));
  spec = cluster(1, 1);
  spec.types[0].devices[1].device = "gpx";
  EXPECT_TRUE(mentions(complaint([&] { Devices(engine, spec); }), "'gpx'"));
  spec = cluster(0, 1);
  EXPECT_TRUE(mentions(complaint([&] { Devices(engine, spec); }), "no devices"));
  spec = cluster(5, 1);
  spec.network.kind = "torus";
  spec.network.sizes = {2, 2};
  EXPECT_TRUE(mentions(complaint([&] { Devices(engine, spec); }), "4 nodes"));
  spec.network.kind = "bus";
  EXPECT_TRUE(mentions(complaint([&] { Devices(engine, spec); }), "'bus'"));
}

TEST(Devices, StorageIsTheNodesOwnOrTheSharedOne) {
  auto spec = cluster(2, 1);
  spec.shared_storage = 3e9;
  Engine engine;
  Devices devices(engine, spec);
  EXPECT_EQ(devices.reading(1).links.front(), devices.reading(3).links.front()) << "shared";
  EXPECT_EQ(devices.reading(1).links.size(), 2u) << "and each node's way to it";
  spec.types[0].storage = 1e9;
  Engine other;
  Devices local(other, spec);
  EXPECT_NE(local.reading(1).links.front(), local.reading(3).links.front());
}

TEST(Placement, WorkersFillNodeByNodeAndServersFollowThem) {
  Engine engine;
  const Devices devices(engine, cluster(3, 2));  // GPUs 1 2, 4 5, 7 8; processors 0, 3, 6
  auto job = workload("parameter-server", 3, 1);
  auto placed = place(devices, job, 4, false);
  EXPECT_EQ(numbers(placed.workers), (std::vector<DeviceId>{1, 2, 4}));
  EXPECT_EQ(numbers(placed.servers), (std::vector<DeviceId>{0, 3, 6, 0}));
  EXPECT_EQ(placed.powered, (std::vector<DeviceId>{0, 1, 2, 3, 4, 6}));
  EXPECT_EQ(placed.hosts[2]->device, 3u);
  placed = place(devices, job, 2, true);
  EXPECT_EQ(numbers(placed.servers), (std::vector<DeviceId>{6, 0})) << "apart: nodes without workers first";
  job.variables_on_gpu = true;
  EXPECT_EQ(numbers(place(devices, job, 2, false).servers), (std::vector<DeviceId>{1, 2}));
  EXPECT_TRUE(mentions(complaint([&] { place(devices, job, 4, false); }), "4 servers on 3 workers"));
  job.device = "cpu";
  EXPECT_EQ(numbers(place(devices, job, std::nullopt, false).workers), (std::vector<DeviceId>{0, 3, 6}));
}

TEST(Placement, ChosenDevicesComputeInTheirOrderAndServersKeepApart) {
  Engine engine;
  Devices devices(engine, cluster(3, 1));  // processors 0, 2, 4 and GPUs 1, 3, 5
  const auto job = workload("parameter-server", 2, 2);
  const auto placed = place(devices, job, 1, true, {5, 1});
  EXPECT_EQ(numbers(placed.workers), (std::vector<DeviceId>{5, 1}));
  EXPECT_EQ(numbers(placed.servers), (std::vector<DeviceId>{2}));
  const auto says = [&](const spec::Workload& of, const std::vector<DeviceId>& chosen) {
    return complaint([&] { place(devices, of, 1, true, chosen); });
  };
  EXPECT_TRUE(mentions(says(job, {5}), "1 devices are chosen for 2 workers"));
  EXPECT_TRUE(mentions(says(job, {5, 5}), "device 5 is chosen twice"));
  EXPECT_TRUE(mentions(says(job, {5, 6}), "device 6 is chosen"));
  auto threads = job;
  threads.threads = 1;
  EXPECT_TRUE(mentions(says(threads, {5, 1}), "threads"));
}

TEST(Placement, AJobLargerThanTheClusterOrForOtherDevicesIsAnError) {
  Engine engine;
  const Devices devices(engine, cluster(2, 2));
  auto job = workload("all-reduce", 5, 1);
  EXPECT_TRUE(mentions(complaint([&] { place(devices, job, std::nullopt, false); }), "has 4 of 'gpu'"));
  job.device = "gpv";
  EXPECT_TRUE(mentions(complaint([&] { place(devices, job, std::nullopt, false); }), "did you mean 'gpu'"));
  job = workload("all-reduce", 0, 1);
  EXPECT_TRUE(mentions(complaint([&] { place(devices, job, std::nullopt, false); }), "at least one worker"));
}

}  // namespace
}  // namespace tandem::sim
