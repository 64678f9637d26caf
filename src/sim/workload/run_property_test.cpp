// Laws that hold for any model, cluster and seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/random.h"
#include "sim/step/step_testing.h"
#include "sim/workload/run_samples.h"
#include "sim/workload/run_workload.h"

namespace tandem::sim {
namespace {

constexpr std::uint64_t kSeeds = 40;
constexpr double kRounding = 1e-9;

int between(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

// Operations that read one or two of those before them.
graph::Model random_model(Random& random) {
  graph::Model out;
  out.name = "random";
  out.operations.push_back({"input", graph::Kind::input, {}, 0, 0, 0, 1e4 * random.uniform()});
  const int count = between(random, 4, 12);
  for (int i = 1; i <= count; ++i) {
    graph::Operation operation;
    operation.name = "op" + std::to_string(i);
    operation.kind = random.uniform() < 0.3 ? graph::Kind::activation : graph::Kind::dense;
    operation.inputs.push_back(static_cast<std::uint32_t>(i - 1));
    if (random.uniform() < 0.3)
      operation.inputs.push_back(static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(i))));
    operation.forward_flops = 1e9 * random.uniform();
    operation.backward_flops = 2e9 * random.uniform();
    operation.parameters = random.uniform() < 0.6 ? 1e7 * random.uniform() : 0;
    operation.outputs = 1e5 * random.uniform();
    out.operations.push_back(operation);
  }
  return out;
}

spec::Cluster random_cluster(Random& random) {
  auto out = step_testing::cluster(between(random, 1, 3), between(random, 1, 4));
  auto& box = out.types[0];
  box.pcie = random.uniform(2e9, 2e10);
  box.gpus_an_uplink = between(random, 1, 3);
  if (random.uniform() < 0.4) box.nvlink = random.uniform(1e10, 5e10);
  if (random.uniform() < 0.5) box.feed = random.uniform(1e8, 1e10);
  box.storage = random.uniform(1e7, 1e9);
  out.network.bandwidth = random.uniform(1e8, 5e9);
  if (random.uniform() < 0.5) out.network.latency = 1e-4 * random.uniform();
  for (auto& device : out.devices)
    if (random.uniform() < 0.5) device.memory_bandwidth = random.uniform(5e9, 5e11);
  return out;
}

struct Case {
  explicit Case(std::uint64_t seed) {
    Random random(seed, 99);
    model = random_model(random);
    cluster = random_cluster(random);
    const int gpus = cluster.nodes[0].count * cluster.types[0].devices[1].count;
    job.name = "job";
    job.workers = between(random, 1, gpus);
    job.batch = between(random, 1, 40);
    job.strong = random.uniform() < 0.5;
    job.iterations = between(random, 1, 7);
    job.overlap = random.uniform() < 0.7;
    if (random.uniform() < 0.5) job.sample_bytes = 1e5 * random.uniform();
    options.seed = seed;
    options.strategy.bucket = random.uniform() < 0.5 ? 2.5e7 : 0;
    options.strategy.fuse = random.uniform() < 0.5;
    options.jump = false;
  }

  RunResult run() const { return run_workload(cluster, job, model, options); }
  // As this strategy would have it; a model in parts needs an operation for each.
  void use(const StrategyEntry& strategy) {
    job.strategy = strategy.name;
    if (strategy.name == "default") job.workers = 1;
    if (!strategy.divides) job.workers = std::min(job.workers, 4);
  }

  graph::Model model;
  spec::Cluster cluster;
  spec::Workload job;
  RunOptions options;
};

// For every seed and strategy.
template <class Check>
void for_all(Check check) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const StrategyEntry& strategy : strategies()) {
      Case drawn(seed);
      drawn.use(strategy);
      SCOPED_TRACE(strategy.name + ", seed " + std::to_string(seed));
      check(drawn, strategy);
    }
}

TEST(Laws, EveryOperationOfEverySampleIsExecuted) {
  for_all([](const Case& drawn, const StrategyEntry& strategy) {
    const auto result = drawn.run();
    EXPECT_EQ(result.samples, drawn.job.iterations * drawn.job.batch);
    if (strategy.name == "pipeline") return;  // its passes are counted for every micro-batch
    const auto passes = static_cast<std::int64_t>(training_graph(drawn.model).passes.size());
    std::int64_t expected = 0, left = result.samples;
    const std::int64_t full = drawn.job.batch * (drawn.job.strong ? 1 : drawn.job.workers);
    for (; left > 0; left -= full)
      for (const std::int64_t share :
           divide(std::min(full, left), strategy.divides ? static_cast<std::size_t>(drawn.job.workers) : 1))
        if (share > 0) expected += passes;
    EXPECT_EQ(result.operations, expected);
  });
}

TEST(Laws, TimesAddUpAndBytesArrive) {
  for_all([](const Case& drawn, const StrategyEntry&) {
    const auto result = drawn.run();
    const double slack = kRounding * result.t_exec;
    EXPECT_NEAR(result.t_comp + result.t_comm + result.t_io, result.t_exec, slack);
    EXPECT_LE(result.t_mem, result.t_comp + slack);
    EXPECT_GT(result.t_comp, 0);
    for (const Traffic& traffic : result.traffic)
      EXPECT_NEAR(traffic.sent, traffic.received, kRounding * traffic.sent);
    for (const DeviceUse& use : result.devices) EXPECT_LE(use.busy, result.t_exec + slack);
  });
}

TEST(Laws, EnergyIsTheIntegralOfPower) {
  for_all([](Case drawn, const StrategyEntry&) {
    drawn.options.timeline = true;
    const auto result = drawn.run();
    std::map<DeviceId, double> dynamic;
    for (const Span& span : result.timeline)
      if (computes(span.purpose)) dynamic[span.device] += span.to - span.from;
    double sum = 0;
    for (const DeviceUse& use : result.devices) {
      const auto& devices = drawn.cluster.devices;
      const auto type = std::find_if(devices.begin(), devices.end(),
                                     [&](const spec::DeviceType& device) { return device.name == use.type; });
      ASSERT_TRUE(type != devices.end());
      const double joules =
          type->idle_watts * result.t_exec + (type->max_watts - type->idle_watts) * dynamic[use.device];
      EXPECT_NEAR(*use.joules, joules, kRounding * joules);
      dynamic.erase(use.device);
      sum += joules;
    }
    EXPECT_TRUE(dynamic.empty()) << "only devices that are accounted for compute";
    EXPECT_NEAR(*result.joules, sum, kRounding * sum);
  });
}

// Weak scaling has one honest cause of more: the small last step of one worker, which is shared out here.
TEST(Laws, SpeedUpIsAtMostTheNumberOfWorkersAndWorkIsNotSaved) {
  for_all([](Case drawn, const StrategyEntry&) {
    drawn.job.strong = true;
    const auto many = drawn.run();
    const int workers = drawn.job.workers;
    drawn.job.workers = 1;
    const auto one = drawn.run();
    EXPECT_LE(one.t_exec, workers * many.t_exec * (1 + kRounding));
    EXPECT_LE(one.t_comp, workers * many.t_comp * (1 + kRounding));
    EXPECT_EQ(one.samples, many.samples);
  });
}

TEST(Laws, EqualSeedsGiveEqualResults) {
  for_all([](Case drawn, const StrategyEntry&) {
    drawn.job.straggler = 0.2;
    const auto first = drawn.run(), second = drawn.run();
    EXPECT_EQ(first.t_exec, second.t_exec);
    EXPECT_EQ(first.t_comm, second.t_comm);
    EXPECT_EQ(*first.joules, *second.joules);
  });
}

TEST(Laws, MoreBandwidthNeverLengthensAStep) {
  for_all([](Case drawn, const StrategyEntry& strategy) {
    if (strategy.name != "all-reduce" && strategy.name != "parameter-server") return;
    const double before = drawn.run().t_exec;
    auto& box = drawn.cluster.types[0];
    for (double* bandwidth :
         {&box.pcie, &box.nvlink, &box.feed, &box.storage, &drawn.cluster.network.bandwidth})
      *bandwidth *= 2;
    EXPECT_LE(drawn.run().t_exec, before * (1 + 1e-6));
  });
}

TEST(Laws, AsynchronousWorkIsConservedToo) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Case drawn(seed);
    drawn.job.strategy = "parameter-server";
    drawn.job.straggler = 0.1;
    const auto synchronous = drawn.run();
    drawn.job.synchronous = false;
    const auto asynchronous = drawn.run();
    EXPECT_EQ(asynchronous.operations, synchronous.operations);
    EXPECT_EQ(asynchronous.samples, synchronous.samples);
    const auto storage = static_cast<std::size_t>(LinkClass::storage);
    EXPECT_NEAR(asynchronous.traffic[storage].received, synchronous.traffic[storage].received,
                kRounding * synchronous.traffic[storage].received);
    EXPECT_NEAR(asynchronous.t_comp + asynchronous.t_comm + asynchronous.t_io, asynchronous.t_exec,
                kRounding * asynchronous.t_exec);
  }
}

}  // namespace
}  // namespace tandem::sim
