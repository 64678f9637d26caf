#include "sim/step/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "sim/step/step_partition.h"
#include "sim/step/step_run.h"
#include "sim/step/step_testing.h"
#include "sim/workload/run_samples.h"

namespace tandem::sim {
namespace {

using step_testing::chain;
using step_testing::cluster;
using step_testing::workload;

constexpr double kExact = 1e-9;

// One step of a workload's batch.
StepResult simulate(const spec::Cluster& spec, const spec::Workload& job, const graph::Model& model,
                    const StrategyOptions& options = {}) {
  Engine engine;
  Devices devices(engine, spec);
  const StrategyEntry& strategy = find_strategy(job.strategy);
  const Placement placement = place(
      devices, job, strategy.servers ? std::optional(job.servers) : std::nullopt, options.servers_apart);
  Step step;
  if (strategy.divides) {
    step.samples = divide(job.batch, placement.workers.size());
  } else {
    step.samples.assign(placement.workers.size(), 0);
    step.samples.front() = job.batch;
  }
  const Setting setting = make_setting(placement, job, model, options, step);
  StepRunner runner(engine, devices, options.interference);
  return runner.run(plan_step(setting, step));
}

double bytes(const StepResult& result, LinkClass link) {
  const Traffic& traffic = result.traffic[static_cast<std::size_t>(link)];
  EXPECT_DOUBLE_EQ(traffic.sent, traffic.received);
  return traffic.sent;
}

// A worker computes 1 s forward and 2 s backward; the parameters are 400 MB.
const graph::Model kOneLayer = chain(1, 1, 1e8);
const graph::Model kFourLayers = chain(4, 0.25, 25e6);

TEST(Default, IsComputingAlone) {
  const auto result = simulate(cluster(1, 1), workload("default", 1, 2), kFourLayers);
  EXPECT_NEAR(result.seconds, 6, kExact);
  EXPECT_NEAR(result.work[1], 6, kExact);
  EXPECT_EQ(result.operations, 9) << "five forward, four backward";
  EXPECT_TRUE(mentions(complaint([] { simulate(cluster(1, 2), workload("default", 2, 2), kOneLayer); }),
                       "one device"));
}

TEST(ParameterServer, PullsThroughSharedUplinksBeforeItBegins) {
  auto spec = cluster(1, 4);
  spec.types[0].gpus_an_uplink = 2;
  const double update = 5e8 / 1e12;  // four gradients and the parameters are added up
  const auto result = simulate(spec, workload("parameter-server", 4, 4), kOneLayer);
  EXPECT_NEAR(result.seconds, 0.08 + 3 + 0.08 + update, kExact);
  EXPECT_NEAR(bytes(result, LinkClass::pcie), 4 * 8e8, 1);
}

TEST(ParameterServer, PushesBehindTheBackwardPassUnlessToldNotTo) {
  auto spec = cluster(1, 4);
  spec.types[0].gpus_an_uplink = 2;
  auto job = workload("parameter-server", 4, 4);
  const double update = 5 * 25e6 / 1e12;
  EXPECT_NEAR(simulate(spec, job, kFourLayers).seconds, 0.08 + 3 + 0.02 + update, kExact);
  job.overlap = false;
  EXPECT_NEAR(simulate(spec, job, kFourLayers).seconds, 0.08 + 3 + 0.08 + update, kExact);
}

TEST(ParameterServer, SeveralServersShardTheVariables) {
  auto job = workload("parameter-server", 2, 2);
  const auto one = simulate(cluster(2, 1), job, kFourLayers);
  EXPECT_NEAR(bytes(one, LinkClass::network), 2 * 4e8, 1) << "the other node pulls and pushes all";
  job.servers = 2;
  const auto two = simulate(cluster(2, 1), job, kFourLayers);
  EXPECT_NEAR(bytes(two, LinkClass::network), 4 * 2e8, 1) << "both nodes pull and push half";
  EXPECT_LT(two.seconds, one.seconds);
}

TEST(ParameterServer, VariablesOnGpusAreNotCopiedToTheirOwner) {
  auto job = workload("parameter-server", 2, 2);
  job.servers = 2;
  job.variables_on_gpu = true;
  const auto result = simulate(cluster(1, 2), job, kFourLayers);
  EXPECT_NEAR(bytes(result, LinkClass::pcie), 4 * 2e8, 1);
}

TEST(ParameterServer, AServerApartSendsEveryCopyThroughItsCable) {
  auto job = workload("parameter-server", 2, 2);
  StrategyOptions options;
  options.servers_apart = true;
  const auto result = simulate(cluster(3, 1), job, kOneLayer, options);
  EXPECT_NEAR(result.seconds, 0.8 + 3 + 0.8 + 3e8 / 1e12, kExact);
}

TEST(DistributedReplicated, ANodeHasOneCopyOnTheWire) {
  const auto result = simulate(cluster(2, 2), workload("distributed-replicated", 4, 4), kOneLayer);
  const double sum = 3e8 / 1e12;  // on the node, and again on the server
  EXPECT_NEAR(result.seconds, 0.4 + 3 + 0.04 + sum + 0.4 + sum, kExact);
  EXPECT_NEAR(bytes(result, LinkClass::network), 8e8, 1);
}

TEST(Replicated, EachGradientIsSummedOnOneWorkerAndCopiedBack) {
  const auto result = simulate(cluster(1, 2), workload("replicated", 2, 2), kOneLayer);
  EXPECT_NEAR(result.seconds, 3 + 0.04 + 3e8 / 1e12 + 0.04, kExact);
  EXPECT_NEAR(bytes(result, LinkClass::pcie), 8e8, 1);
  EXPECT_NEAR(simulate(cluster(1, 2), workload("replicated", 1, 1), kOneLayer).seconds, 3, kExact);
}

TEST(AllReduce, OneWorkerHasNobodyToReduceWith) {
  EXPECT_NEAR(simulate(cluster(1, 1), workload("all-reduce", 1, 1), kOneLayer).seconds, 3, kExact);
}

// 2 (n-1) rounds, in each of which every worker sends a chunk to the next.
double stepwise_ring(const spec::Cluster& spec, const std::vector<DeviceId>& ring, double all) {
  Engine engine;
  Devices devices(engine, spec);
  StepRunner runner(engine, devices, 0);
  Plan plan;
  TaskIndex before = kNoTask;
  for (std::size_t round = 0; round < 2 * (ring.size() - 1); ++round) {
    std::vector<TaskIndex> sent;
    for (std::size_t i = 0; i < ring.size(); ++i)
      sent.push_back(plan.copy(Purpose::send, ring[i], ring[(i + 1) % ring.size()],
                               all / static_cast<double>(ring.size()), {before}));
    before = plan.join(sent);
  }
  return runner.run(plan).seconds;
}

TEST(AllReduce, ConcurrentFlowsTakeAsLongAsTheRingRoundByRound) {
  struct Case {
    int nodes, gpus, workers;
    double latency, nvlink;
    std::vector<DeviceId> ring;
  };
  for (const Case& c :
       {Case{4, 1, 4, 1e-4, 0, {1, 3, 5, 7}}, Case{2, 4, 8, 5e-5, 0, {1, 2, 3, 4, 6, 7, 8, 9}},
        Case{1, 8, 8, 0, 20e9, {1, 2, 3, 4, 5, 6, 7, 8}}, Case{2, 2, 3, 0, 20e9, {1, 2, 4}}}) {
    auto spec = cluster(c.nodes, c.gpus);
    spec.network.latency = c.latency;
    spec.types[0].nvlink = c.nvlink;
    auto job = workload("all-reduce", c.workers, c.workers);
    job.overlap = false;
    StrategyOptions options;
    options.bucket = 1e12;
    const double ours = simulate(spec, job, kOneLayer, options).seconds - 3;
    const double rounds = stepwise_ring(spec, c.ring, 4e8);
    EXPECT_NEAR(ours, rounds, 0.01 * rounds) << c.nodes << " " << c.gpus;
  }
}

TEST(AllReduce, LayerByLayerIsTheStudysFormula) {
  auto job = workload("all-reduce", 2, 2);
  StrategyOptions options;
  options.bucket = 0;
  for (const double c : {0.5, 1.0, 2.0, 4.0}) {
    const auto model = chain(50, 0.02, c * 1e9 / 4 / 50);  // F(2) = 1, and 1 GB/s
    const double formula = 1 + std::max(2.0, c) + 0.3 * std::min(2.0, c);
    EXPECT_NEAR(simulate(cluster(2, 1), job, model, options).seconds, formula, 0.02 * formula) << c;
  }
}

TEST(AllReduce, LaunchingTakesItsTimeForEveryWorkerAfterTheFirst) {
  auto job = workload("all-reduce", 4, 4);
  StrategyOptions options;
  const double without = simulate(cluster(1, 4), job, kOneLayer, options).seconds;
  options.launch = 0.008;
  EXPECT_NEAR(simulate(cluster(1, 4), job, kOneLayer, options).seconds, without + 0.024, kExact);
}

TEST(Hierarchical, IsWithinNodesAcrossThemAndWithinAgain) {
  const auto result = simulate(cluster(2, 2), workload("hierarchical", 4, 4), kOneLayer);
  EXPECT_NEAR(result.seconds, 3 + 0.02 + 0.4 + 0.02, kExact);
  EXPECT_NEAR(bytes(result, LinkClass::network), 8e8, 1);
  const double one_node = simulate(cluster(1, 4), workload("hierarchical", 4, 4), kOneLayer).seconds;
  EXPECT_NEAR(one_node, simulate(cluster(1, 4), workload("all-reduce", 4, 4), kOneLayer).seconds, kExact);
}

TEST(Model, PartsPassTensorsOnAndGradientsBack) {
  const auto model = chain(2, 1, 1, 2.5e9);  // 10 GB a sample: a second
  const auto result = simulate(cluster(1, 2), workload("model", 2, 1), model);
  EXPECT_NEAR(result.seconds, 1 + 1 + 1 + 2 + 1 + 2, kExact);
  const auto cut = crossings(model, {0, 0, 1});
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_NEAR(bytes(result, LinkClass::pcie), 2 * cut[0].bytes, 1) << "Send, Receive, and the gradient back";
}

// GPipe: M micro-batches on K equal parts take M + K - 1 turns each way.
TEST(Pipeline, HasTheBubbleOfGpipe) {
  const auto model = chain(4, 0.1, 1);
  StrategyOptions options;
  for (const int micro : {1, 2, 4, 8}) {
    options.micro_batches = micro;
    const double turn = 0.3 * 8 / micro;
    EXPECT_NEAR(simulate(cluster(1, 4), workload("pipeline", 4, 8), model, options).seconds,
                (micro + 3) * turn, kExact);
  }
  const auto result = simulate(cluster(1, 4), workload("pipeline", 4, 8), model, options);
  EXPECT_EQ(result.operations, 9 * 8);
}

TEST(Strategies, FusedOperationsTakeAsLongAsSingleOnes) {
  for (const StrategyEntry& entry : strategies()) {
    const int workers = entry.name == "default" ? 1 : 3;
    const auto job = workload(entry.name, workers, 7);
    StrategyOptions options;
    options.bucket = 1.5e8;
    const auto fused = simulate(cluster(2, 2), job, kFourLayers, options);
    options.fuse = false;
    const auto single = simulate(cluster(2, 2), job, kFourLayers, options);
    EXPECT_NEAR(fused.seconds, single.seconds, kExact) << entry.name;
    EXPECT_EQ(fused.operations, single.operations) << entry.name;
  }
}

TEST(Strategies, AWorkerWithoutSamplesComputesNothing) {
  for (const char* name :
       {"parameter-server", "distributed-replicated", "replicated", "all-reduce", "hierarchical"}) {
    const auto result = simulate(cluster(1, 2), workload(name, 2, 1), kFourLayers);
    EXPECT_EQ(result.operations, 9) << name;
    EXPECT_NEAR(result.work[1], 3, 0.01) << name;
    EXPECT_LT(result.work[2], 0.01) << name;
  }
}

TEST(Strategies, WhatCannotBeIsAnError) {
  EXPECT_TRUE(mentions(complaint([] { find_strategy("ring"); }), "there are: default"));
  EXPECT_TRUE(mentions(complaint([] { find_strategy("all-reduc"); }), "did you mean 'all-reduce'"));
  auto job = workload("all-reduce", 2, 2);
  job.synchronous = false;
  EXPECT_TRUE(mentions(complaint([&] { simulate(cluster(1, 2), job, kOneLayer); }), "only parameter-server"));
  job = workload("pipeline", 4, 4);
  EXPECT_TRUE(mentions(complaint([&] { simulate(cluster(1, 4), job, kOneLayer); }), "4 parts"));
  auto spec = cluster(1, 1);
  spec.devices[1].memory = 1'000'000'000;
  EXPECT_TRUE(
      mentions(complaint([&] { simulate(spec, workload("default", 1, 1), kOneLayer); }), "smaller batch"));
}

}  // namespace
}  // namespace tandem::sim
