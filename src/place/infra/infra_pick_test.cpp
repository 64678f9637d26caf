#include "place/infra/infra_pick.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tandem::place {
namespace {

using Names = std::vector<std::string>;

const NodeFacts kServer{24, 2.3e9, 128 * kGiB, 2, 16 * kGiB, 1.25e9};

struct Seen {
  std::string host;
  Shares in_use{};  // CPU, memory, network, GPU, GPU memory
  NodeFacts facts = kServer;
  double latency = 1e-4;
};

Catalogue catalogue(const std::vector<Seen>& nodes) {
  Catalogue out;
  for (const Seen& node : nodes) {
    out.found(node.host, node.facts);
    for (int i = 0; i < 3; ++i) out.observed(node.host, {{10.0 * i}, node.in_use, {node.latency}});
  }
  return out;
}

Demands wants(int workers) {
  return {.workers = workers, .gpus = 1};
}

Pick pick(const std::vector<Seen>& nodes, const Demands& demands, const PickOptions& options = {}) {
  return pick_workers(catalogue(nodes), JobClasses(), demands, {30}, options);
}

Standing standing(const Pick& pick, const std::string& host) {
  for (const Judgement& node : pick.nodes)
    if (node.host == host) return node.standing;
  ADD_FAILURE() << "no " << host;
  return Standing::fit;
}

TEST(Pick, TheLessANodeIsUsedTheHigherItsScore) {
  const auto out = pick(
      {{"a", {{0.3, 0, 0, 0.4, 0}}}, {"b", {{0.1, 0, 0, 0.2, 0}}}, {"c", {{0.2, 0.1, 0, 0.2, 0}}}}, wants(2));
  EXPECT_EQ(out.workers, (Names{"b", "c"}));
  EXPECT_DOUBLE_EQ(out.nodes[1].score, 0.9 + 1 + 1 + 0.8);
  EXPECT_TRUE(out.nodes[1].picked);
  EXPECT_FALSE(out.nodes[0].picked);
  EXPECT_EQ(out.readmitted, 0);
  EXPECT_TRUE(out.why.empty());
}

TEST(Pick, WeightsSayWhatMattersAndTiesGoByHost) {
  const std::vector<Seen> nodes{{"a", {{0.5, 0, 0, 0, 0}}}, {"b", {{0, 0, 0, 0.4, 0}}}};
  EXPECT_EQ(pick(nodes, wants(1)).workers, (Names{"b"}));
  PickOptions options;
  options.weights = {{0.1, 0, 0, 1, 0}};
  EXPECT_EQ(pick(nodes, wants(1), options).workers, (Names{"a"}));
  EXPECT_EQ(pick({{"b"}, {"a"}, {"c"}}, wants(2)).workers, (Names{"a", "b"}));
}

TEST(Pick, ALargerNodeHasMoreFreeAtTheSameUse) {
  auto fast = kServer;
  fast.bandwidth *= 4;
  EXPECT_EQ(pick({{"a"}, {"b", {{0, 0, 0.5, 0, 0}}, fast}}, wants(1)).workers, (Names{"b"}));
}

TEST(Pick, ThresholdsAreOnAllFiveResources) {
  for (const Resource resource : kAllResources) {
    Seen busy{"busy"};
    busy.in_use[resource] = ThresholdOptions().at_first[resource];
    const auto out = pick({busy, {"free", {{0.5, 0.5, 0.5, 0.5, 0.5}}}}, wants(1));
    EXPECT_EQ(out.workers, (Names{"free"})) << name(resource);
    EXPECT_EQ(standing(out, "busy"), Standing::busy) << name(resource);
    busy.in_use[resource] -= 0.01;
    EXPECT_EQ(standing(pick({busy}, wants(1)), "busy"), Standing::fit) << name(resource);
  }
}

TEST(Pick, ThresholdsAreThoseOfTheClass) {
  JobClasses classes;
  for (int i = 0; i < 10; ++i) {
    Shares in_use;
    in_use[Resource::gpu] = 0.08 * i;
    classes.ran("heavy", in_use, 1 / (1 - 0.08 * i));  // all its time on the GPU
    classes.ran("light", in_use, 1);
  }
  const auto nodes = catalogue({{"a", {{0, 0, 0, 0.5, 0}}}});
  auto demands = wants(1);
  demands.job_class = "heavy";
  EXPECT_EQ(standing(pick_workers(nodes, classes, demands, {30}), "a"), Standing::busy);
  demands.job_class = "light";
  EXPECT_EQ(standing(pick_workers(nodes, classes, demands, {30}), "a"), Standing::fit);
}

TEST(Pick, LoadThatAClassDoesNotMindIsNoReason) {
  JobClasses classes;
  for (int i = 0; i < 10; ++i) {
    Shares in_use;
    in_use[Resource::cpu] = i / 9.0;
    classes.ran("gpu-bound", in_use, 1);
  }
  const auto nodes = catalogue({{"gpu-busy", {{0, 0, 0, 0.3, 0}}}, {"cpu-full", {{1, 0, 0, 0.1, 0}}}});
  auto demands = wants(1);
  EXPECT_EQ(pick_workers(nodes, classes, demands, {30}).workers, (Names{"gpu-busy"}));
  demands.job_class = "gpu-bound";
  const auto out = pick_workers(nodes, classes, demands, {30});
  EXPECT_EQ(out.workers, (Names{"cpu-full"}));
  EXPECT_EQ(standing(out, "cpu-full"), Standing::fit);
}

TEST(Pick, WhatIsDemandedMustBeThere) {
  const auto lacks = [](auto change) {
    Demands demands = wants(1);
    change(demands);
    return standing(pick({{"a"}}, demands), "a") == Standing::lacks;
  };
  EXPECT_FALSE(lacks([](Demands& d) { d.cores = 24; }));
  EXPECT_TRUE(lacks([](Demands& d) { d.cores = 25; }));
  EXPECT_TRUE(lacks([](Demands& d) { d.memory = 129 * kGiB; }));
  EXPECT_TRUE(lacks([](Demands& d) { d.bandwidth = 2e9; }));
  EXPECT_TRUE(lacks([](Demands& d) { d.gpus = 3; }));
  EXPECT_TRUE(lacks([](Demands& d) { d.gpu_memory = 17 * kGiB; }));
}

TEST(Pick, WhatIsDemandedMustBeFree) {
  const std::vector<Seen> half{{"a", {{0.5, 0.5, 0.5, 0.5, 0.5}}}};
  Demands demands = wants(1);
  demands.gpu_memory = 9 * kGiB;
  auto out = pick(half, demands);
  EXPECT_EQ(standing(out, "a"), Standing::no_room);
  EXPECT_TRUE(out.workers.empty()) << "it would die there: never readmitted";
  EXPECT_NE(out.why.find("9 GiB of GPU memory is demanded, 8 GiB is free"), std::string::npos) << out.why;
  demands = wants(1);
  demands.memory = 65 * kGiB;
  EXPECT_EQ(standing(pick(half, demands), "a"), Standing::no_room);
  demands = wants(1);
  demands.bandwidth = 1e9;
  out = pick(half, demands);
  EXPECT_EQ(standing(out, "a"), Standing::busy) << "it would only be slow";
  EXPECT_EQ(out.workers, (Names{"a"}));
  demands = wants(1);
  demands.cores = 13;
  EXPECT_EQ(standing(pick(half, demands), "a"), Standing::busy);
}

TEST(Pick, GpusDoNotMatterToJobsWithoutThem) {
  auto plain = kServer;
  plain.gpus = 0;
  const auto out = pick({{"a", {{0, 0, 0, 1, 1}}}, {"b", {{0.1, 0, 0, 0, 0}}, plain}}, {.workers = 2});
  EXPECT_EQ(out.workers, (Names{"a", "b"}));
  EXPECT_EQ(out.readmitted, 0) << "the GPU's load is nobody's business";
}

TEST(Pick, StragglersAndBusyNodesAreReadmittedInThatOrderAndItIsSaid) {
  const std::vector<Seen> nodes{{"busy", {{0, 0, 0, 0.85, 0}}},
                                {"far", {}, kServer, 0.05},
                                {"fit", {{0.5, 0.5, 0.5, 0.5, 0}}},
                                {"near", {{0.6, 0.5, 0.5, 0.5, 0}}}};
  auto out = pick(nodes, wants(2));
  EXPECT_EQ(out.workers, (Names{"fit", "near"}));
  EXPECT_TRUE(out.why.empty());
  out = pick(nodes, wants(3));
  EXPECT_EQ(out.workers, (Names{"fit", "near", "busy"}));
  EXPECT_EQ(out.readmitted, 1);
  EXPECT_NE(out.why.find("3 workers are wanted and 2 nodes are fit"), std::string::npos) << out.why;
  out = pick(nodes, wants(4));
  EXPECT_EQ(out.workers.back(), "far");
  EXPECT_EQ(standing(out, "far"), Standing::straggler);
  EXPECT_TRUE(pick(nodes, wants(5)).workers.empty());
  PickOptions strict;
  strict.readmit = false;
  EXPECT_TRUE(pick(nodes, wants(3), strict).workers.empty());
  EXPECT_EQ(pick(nodes, wants(2), strict).workers, (Names{"fit", "near"}));
}

TEST(Pick, NodesThatWereNotSeenLatelyAreOut) {
  auto nodes = catalogue({{"a"}, {"b"}});
  nodes.found("new", kServer);
  const auto out = pick_workers(nodes, JobClasses(), wants(2), {30});
  EXPECT_EQ(standing(out, "new"), Standing::unseen);
  const auto later = pick_workers(nodes, JobClasses(), wants(2), {1000});
  EXPECT_TRUE(later.workers.empty());
  EXPECT_NE(later.why.find("last observed"), std::string::npos) << later.why;
}

// Whatever the nodes: those picked are distinct, never out for good, and none that is left out stands better.
TEST(Pick, NobodyLeftOutStandsBetterThanSomebodyPicked) {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Seen> nodes;
    const std::uint64_t count = 1 + random.below(9);
    for (std::uint64_t i = 0; i < count; ++i) {
      Seen node{"n" + std::to_string(i)};
      for (double& share : node.in_use.of) share = random.uniform() * random.uniform(0.5, 1);
      node.latency = random.below(5) == 0 ? 0.02 : 1e-4;
      nodes.push_back(node);
    }
    Demands demands = wants(1 + static_cast<int>(random.below(5)));
    demands.gpu_memory = static_cast<Bytes>(random.below(12)) * kGiB;
    const auto out = pick(nodes, demands);
    int picked = 0, usable = 0;
    for (const Judgement& a : out.nodes) {
      picked += a.picked;
      usable += a.standing <= Standing::straggler;
      if (!a.picked) continue;
      EXPECT_LE(a.standing, Standing::straggler);
      for (const Judgement& b : out.nodes) {
        EXPECT_TRUE(b.picked || a.standing < b.standing || (a.standing == b.standing && a.score >= b.score));
      }
    }
    EXPECT_EQ(picked, usable >= demands.workers ? demands.workers : 0);
    EXPECT_EQ(out.workers.size(), static_cast<std::size_t>(picked));
  }
}

}  // namespace
}  // namespace tandem::place
