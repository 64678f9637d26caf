#include "sim/trace/replay.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "sim/trace/replay_trace.h"
#include "spec/parse_sim.h"

namespace tandem::sim {
namespace {

ReplayInput one_pool(std::int64_t cores, std::size_t nodes) {
  ReplayInput in;
  in.pools.push_back({"node", "", {1000 * cores, 0, 0, 0}, nodes, NodeDraw{50, 100, 0}});
  return in;
}

void add(ReplayInput& in, double at, double seconds, std::int64_t cores, std::int64_t parts = 1) {
  in.shapes.push_back({{1000 * cores, 0, 0, 0}, parts, {0}});
  in.jobs.push_back({at, seconds, static_cast<std::uint32_t>(in.shapes.size() - 1), 0});
}

TEST(ReplayedJobs, OneNodeFirstInFirstOutByHand) {
  auto in = one_pool(2, 1);
  add(in, 0, 10, 1);
  add(in, 1, 10, 2);  // waits for both cores
  add(in, 2, 3, 1);   // would fit, but waits behind
  const auto out = replay(in, place::find_order("fifo"));
  EXPECT_EQ(out.jobs[0].started, 0);
  EXPECT_EQ(out.jobs[1].started, 10);
  EXPECT_EQ(out.jobs[2].started, 20);
  EXPECT_EQ(out.makespan, 23);
  EXPECT_EQ(out.core_seconds, 10 + 20 + 3);
  EXPECT_EQ(out.core_seconds_there, 46);
  // Idle all the time, and the cores' 100 W by how many are at work.
  EXPECT_DOUBLE_EQ(*out.joules, 23 * 50 + 33 * 100.0 / 2);
  const auto waits = waits_of(in, out);
  EXPECT_EQ(waits.jobs, 3u);
  EXPECT_DOUBLE_EQ(waits.mean, (0 + 9 + 18) / 3.0);
  EXPECT_DOUBLE_EQ(waits.most, 18);
}

TEST(ReplayedJobs, FirstFitLetsASmallOnePass) {
  auto in = one_pool(2, 1);
  add(in, 0, 10, 1);
  add(in, 1, 10, 2);
  add(in, 2, 3, 1);
  const auto out = replay(in, place::find_order("first-fit"));
  EXPECT_EQ(out.jobs[2].started, 2);
  EXPECT_EQ(out.jobs[1].started, 10);
}

TEST(ReplayedJobs, WhatNoEmptyClusterCanHoldIsSaidAndBlocksNobody) {
  auto in = one_pool(2, 2);
  add(in, 0, 1, 3);
  add(in, 0, 1, 2, 3);
  add(in, 0, 1, 2, 2);
  const auto out = replay(in, place::find_order("fifo"));
  EXPECT_EQ(out.never, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(out.jobs[2].ended, 1);
  EXPECT_FALSE(std::isfinite(out.jobs[0].ended));
}

TEST(ReplayedJobs, AJobGoesWhereItIsFastestAndNeverWhereItWasNotMeasured) {
  ReplayInput in;
  in.pools = {{"slow", "K80", {0, 0, 1, 0}, 1, {}}, {"fast", "V100", {0, 0, 1, 0}, 1, {}}};
  in.shapes.push_back({{0, 0, 1, 0}, 1, {0, 1}});
  for (int i = 0; i < 3; ++i) in.jobs.push_back({0, 0, 0, 0});
  in.by_pool = {10, 4, 10, 4, INFINITY, 4};
  const auto out = replay(in, place::find_order("fifo"));
  EXPECT_EQ(out.jobs[0].ended, 4);   // V100
  EXPECT_EQ(out.jobs[1].ended, 10);  // K80, which is free
  EXPECT_EQ(out.jobs[2].ended, 8);   // waits for the V100
  EXPECT_FALSE(out.joules.has_value());
}

TEST(ReplayedJobs, PartsOnSeveralNodesTakeAsLongAsMeasuredThere) {
  ReplayInput in;
  in.pools = {{"node", "V100", {0, 0, 2, 0}, 2, {}}};
  in.shapes = {{{0, 0, 1, 0}, 1, {0}}, {{0, 0, 1, 0}, 2, {0}}};
  in.jobs = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}};
  in.jobs[1].shape = 0;
  in.by_pool = {100, 100, 5};
  in.by_pool_spread = {100, 100, 9};
  auto out = replay(in, place::find_order("fifo"));
  EXPECT_EQ(out.jobs[2].ended, 5);  // the second node is free
  in.shapes.push_back({{0, 0, 1, 0}, 3, {0}});
  in.jobs = {{0, 0, 0, 0}, {0, 0, 2, 0}};
  in.by_pool = {100, 5};
  in.by_pool_spread = {100, 9};
  out = replay(in, place::find_order("fifo"));
  EXPECT_EQ(out.jobs[1].ended, 9);
}

// Work is conserved and nobody uses what is not there, whatever the policy.
TEST(ReplayedJobs, ConservesWorkAndKeepsToCapacity) {
  for (const auto& policy : place::orders())
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(seed, 1);
      auto in = one_pool(4, 1 + random.below(5));
      double at = 0, work = 0;
      for (int i = 0; i < 300; ++i) {
        at += random.uniform(0, 2);
        const auto cores = static_cast<std::int64_t>(1 + random.below(4));
        const auto parts = static_cast<std::int64_t>(1 + random.below(in.pools[0].count));
        const double seconds = random.uniform(0, 10);
        add(in, at, seconds, cores, parts);
        work += seconds * static_cast<double>(cores * parts);
      }
      const auto out = replay(in, policy);
      EXPECT_NEAR(out.core_seconds, work, 1e-6 * work) << policy.name;
      EXPECT_LE(out.core_seconds, out.core_seconds_there * (1 + 1e-12));
      for (std::size_t i = 0; i < in.jobs.size(); ++i) {  // at each start: all that run then fit
        double used = 0;
        for (std::size_t k = 0; k < in.jobs.size(); ++k)
          if (out.jobs[k].started <= out.jobs[i].started && out.jobs[i].started < out.jobs[k].ended) {
            const auto& shape = in.shapes[in.jobs[k].shape];
            used += static_cast<double>(shape.part.milli_cores * shape.parts) / 1000;
          }
        ASSERT_LE(used, 4.0 * static_cast<double>(in.pools[0].count));
        ASSERT_GE(out.jobs[i].started, in.jobs[i].submitted);
      }
    }
}

TEST(ReplayedJobs, AFailedNodeCostsWhatWasDoneSinceTheLastCheckpoint) {
  for (const double checkpoint : {0.0, 1.0}) {
    auto in = one_pool(1, 20);
    for (int i = 0; i < 200; ++i) add(in, 0, 100, 1);
    in.failures = spec::Failures{Seconds{500}, Seconds{50}};
    in.checkpoint = checkpoint;
    const auto out = replay(in, place::find_order("fifo"));
    ASSERT_GT(out.failures, 10u);
    EXPECT_NEAR(out.core_seconds, 200 * 100 + out.lost_seconds, 1e-6 * out.core_seconds);
    if (checkpoint > 0) {
      EXPECT_LT(out.lost_seconds, static_cast<double>(out.failures) * checkpoint);
    }
    for (const auto& fate : out.jobs) EXPECT_TRUE(std::isfinite(fate.ended));
    EXPECT_LT(out.core_seconds_there, 20 * out.makespan);
    const auto again = replay(in, place::find_order("fifo"));
    EXPECT_EQ(again.makespan, out.makespan);
    EXPECT_EQ(again.events, out.events);
  }
}

TEST(ReplayedJobs, AJobThatNeverLivesToItsEndIsGivenUp) {
  auto in = one_pool(1, 1);
  add(in, 0, 1e6, 1);
  in.failures = spec::Failures{Seconds{10}, Seconds{1}};
  const auto out = replay(in, place::find_order("fifo"));
  EXPECT_EQ(out.given_up, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(out.jobs[0].attempts, kMostAttempts);
}

TEST(ReplayedJobs, RefusesWhatCannotBe) {
  EXPECT_THROW(replay({}, place::find_order("fifo")), UserError);
  auto in = one_pool(1, 1);
  add(in, 5, 1, 1);
  add(in, 4, 1, 1);
  EXPECT_THROW(replay(in, place::find_order("fifo")), UserError);
  in.jobs[1] = {6, NAN, 0, 0};
  EXPECT_THROW(replay(in, place::find_order("fifo")), UserError);
  in.jobs[1] = {6, 1, 9, 0};
  EXPECT_THROW(replay(in, place::find_order("fifo")), UserError);
}

TEST(ReplayTrace, PoolsOfAReadyCluster) {
  const auto pools = pools_of(spec::load_cluster("minsky"));
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].count, 12u);
  EXPECT_EQ(pools[0].node.gpus, 4);
  EXPECT_EQ(pools[0].node.milli_cores, 20000);
  EXPECT_EQ(pools[0].gpu_type, "P100");
  ASSERT_TRUE(pools[0].draw.has_value());
  EXPECT_DOUBLE_EQ(pools[0].draw->idle, 2 * 130 + 4 * 125);
  EXPECT_DOUBLE_EQ(pools[0].draw->a_gpu, 125);
}

TEST(ReplayTrace, JobsAskForTheirGpusAndOthersLeaveThemFree) {
  const std::vector<TraceNode> nodes = {
      {"a", 1, 8, 0, 4, "T4"}, {"b", 2, 8, 0, 0, ""}, {"c", 3, 8, 0, 4, "T4"}};
  auto pools = pools_of(nodes);
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_EQ(pools[0].count, 2u);
  Trace trace;
  trace.jobs.resize(3);
  for (auto& job : trace.jobs) job.duration = 10, job.cores = 2;
  trace.jobs[0].gpus = 0.25, trace.jobs[0].gpu_type = "T4";
  trace.jobs[2].gpus = 1, trace.jobs[2].gpu_type = "V100";
  const auto replayed = replay_of(trace, pools);
  const auto& shapes = replayed.input.shapes;
  EXPECT_EQ(shapes[0].pools, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(shapes[0].part.gpu_share, 250);
  EXPECT_EQ(shapes[1].pools, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_TRUE(shapes[2].pools.empty());
  const auto out = replay(replayed.input, place::find_order("fifo"));
  EXPECT_EQ(out.never, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(replayed.notes.size(), 1u);  // memory
}

TEST(ReplayTrace, PowerIsAssumedOnlyWhereEveryGpuIsKnownAndSaid) {
  std::vector<TraceNode> nodes(2);
  nodes[0].cores = nodes[1].cores = 32;
  nodes[0].gpus = 2, nodes[0].gpu_type = "T4";
  auto pools = pools_of(nodes);
  const auto said = assume_power(pools);
  EXPECT_NE(said.find("assumed"), std::string::npos);
  EXPECT_NE(said.find("T4 10 to 70"), std::string::npos);
  for (const auto& pool : pools) {
    ASSERT_TRUE(pool.draw.has_value());
    EXPECT_NEAR(pool.draw->idle, 15 + 10 * pool.node.gpus, 1e-9);
    EXPECT_NEAR(pool.draw->a_gpu, pool.node.gpus > 0 ? 60 : 0, 1e-9);
  }
  nodes[0].gpu_type = "a card of tomorrow";
  auto unknown = pools_of(nodes);
  EXPECT_EQ(assume_power(unknown), "");
  for (const auto& pool : unknown) EXPECT_FALSE(pool.draw.has_value());
}

}  // namespace
}  // namespace tandem::sim
