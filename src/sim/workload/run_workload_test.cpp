#include "sim/workload/run_workload.h"

#include <gtest/gtest.h>

#include "sim/step/step_testing.h"
#include "sim/workload/run_samples.h"

namespace tandem::sim {
namespace {

using step_testing::chain;
using step_testing::cluster;
using step_testing::workload;

constexpr double kExact = 1e-9;

// 3 ms of computing a sample, 100 MB of parameters in four layers, 4 kB of input a sample.
const graph::Model kModel = chain(4, 0.00025, 6.25e6, 1000);

RunOptions every_step() {
  RunOptions options;
  options.jump = false;
  return options;
}

TEST(Samples, SharesDifferByOneAtMostAndAddUp) {
  EXPECT_EQ(divide(10, 4), (std::vector<std::int64_t>{3, 3, 2, 2}));
  EXPECT_EQ(divide(2, 3), (std::vector<std::int64_t>{1, 1, 0}));
}

// The thesis lost 7 of these iterations and found more than eight times the speed.
TEST(Samples, SeventyOneIterationsOnEightWorkersAreAllDone) {
  auto job = workload("all-reduce", 8, 128);
  job.strong = false;
  job.iterations = 71;
  const Steps steps = steps_of(job);
  EXPECT_EQ(steps.total, 71 * 128);
  EXPECT_EQ(steps.count, 9);
  EXPECT_EQ(steps.full, 1024);
  EXPECT_EQ(steps.last, 896);
}

TEST(Samples, EpochsCountSamples) {
  auto job = workload("default", 1, 10);
  job.iterations = 0;
  job.samples = 25;
  job.epochs = 1.5;
  EXPECT_EQ(steps_of(job).total, 38);
  EXPECT_EQ(steps_of(job).last, 8);
  job.epochs = 0;
  EXPECT_TRUE(mentions(complaint([&] { steps_of(job); }), "nothing to do"));
  job = workload("default", 1, 0);
  EXPECT_TRUE(mentions(complaint([&] { steps_of(job); }), "batch"));
  job.batch = job.iterations = 4'000'000'000;
  EXPECT_TRUE(mentions(complaint([&] { steps_of(job); }), "counted"));
}

TEST(Samples, StretchesAreStepsThatAreAlike) {
  EXPECT_EQ(stretches({100, 10, 10, 10}, false), (std::vector<Stretch>{{10, 0, 10}}));
  EXPECT_EQ(stretches({98, 10, 8, 10}, false), (std::vector<Stretch>{{10, 0, 9}, {8, 0, 1}}));
  EXPECT_EQ(stretches({98, 10, 8, 10}, true), (std::vector<Stretch>{{10, 10, 8}, {10, 8, 1}, {8, 0, 1}}));
  EXPECT_EQ(stretches({8, 10, 8, 1}, true), (std::vector<Stretch>{{8, 0, 1}}));
}

TEST(RunWorkload, OneDeviceOnlyComputes) {
  auto job = workload("default", 1, 10);
  job.iterations = 7;
  const auto result = run_workload(cluster(1, 1), job, kModel);
  EXPECT_NEAR(result.t_exec, 70 * 0.003, kExact);
  EXPECT_NEAR(result.t_comp, result.t_exec, kExact);
  EXPECT_NEAR(result.t_comm, 0, kExact);
  EXPECT_NEAR(result.usage, 1, kExact);
  EXPECT_EQ(result.samples, 70);
  EXPECT_EQ(result.steps, 7);
  EXPECT_EQ(result.operations, 7 * 9);
}

TEST(RunWorkload, JumpingIsTheSameAsEveryStep) {
  auto spec = cluster(2, 2);
  spec.shared_storage = 2e6;
  spec.types[0].feed = 1e7;
  spec.types[0].gpus_an_uplink = 2;
  spec.network.latency = 1e-5;
  for (const StrategyEntry& entry : strategies())
    for (const bool strong : {true, false}) {
      auto job = workload(entry.name, entry.name == "default" ? 1 : 3, 10);
      job.strong = strong;
      job.iterations = 0;
      job.samples = 317;
      job.epochs = 1;
      job.sample_bytes = 5000;
      const auto jumped = run_workload(spec, job, kModel),
                 all = run_workload(spec, job, kModel, every_step());
      EXPECT_NEAR(jumped.t_exec, all.t_exec, kExact * all.t_exec) << entry.name;
      EXPECT_NEAR(jumped.t_comp, all.t_comp, kExact * all.t_exec) << entry.name;
      EXPECT_NEAR(jumped.t_comm, all.t_comm, kExact * all.t_exec) << entry.name;
      EXPECT_NEAR(jumped.t_io, all.t_io, kExact * all.t_exec) << entry.name;
      EXPECT_NEAR(*jumped.joules, *all.joules, kExact * *all.joules) << entry.name;
      EXPECT_EQ(jumped.operations, all.operations) << entry.name;
      EXPECT_EQ(jumped.samples, 317) << entry.name;
      for (std::size_t i = 0; i < kLinkClasses; ++i)
        EXPECT_NEAR(jumped.traffic[i].sent, all.traffic[i].sent, kExact * all.traffic[i].sent) << entry.name;
      EXPECT_FALSE(jumped.extrapolated);
    }
}

TEST(RunWorkload, ReadingAheadCostsWhatIsLongerThanComputing) {
  auto spec = cluster(1, 1);
  auto job = workload("default", 1, 10);  // 30 ms a step
  job.iterations = 5;
  job.sample_bytes = 1e6;
  spec.types[0].storage = 1e9;  // 10 ms a step
  auto result = run_workload(spec, job, kModel);
  EXPECT_NEAR(result.t_exec, 0.01 + 5 * 0.03, kExact);
  EXPECT_NEAR(result.t_io, 0.01, kExact);
  spec.types[0].storage = 2e8;  // 50 ms a step
  result = run_workload(spec, job, kModel);
  EXPECT_NEAR(result.t_exec, 5 * 0.05 + 0.03, kExact);
  EXPECT_NEAR(result.t_io, 0.05 + 4 * 0.02, kExact);
  EXPECT_NEAR(result.traffic[static_cast<std::size_t>(LinkClass::storage)].received, 50e6, 1);
  spec.types[0].storage = 0;
  EXPECT_TRUE(mentions(complaint([&] { run_workload(spec, job, kModel); }), "storage"));
}

TEST(RunWorkload, TheFeedIsSharedByANodeAndInSeriesWithTheStep) {
  auto spec = cluster(1, 2);
  spec.types[0].storage = 1e15;
  spec.types[0].feed = 4e6;  // 4 kB a sample: 1 ms
  auto job = workload("all-reduce", 2, 10);
  job.sample_bytes = 1;
  const auto with = run_workload(spec, job, kModel);
  job.sample_bytes = 0;
  const auto without = run_workload(spec, job, kModel);
  EXPECT_NEAR(with.t_exec - without.t_exec, 0.01, kExact);
  EXPECT_NEAR(with.t_io, 0.01, kExact);
  EXPECT_NEAR(with.t_comm, without.t_comm, kExact);
}

TEST(RunWorkload, PowerIsIdleAndWhatComputingAdds) {
  auto job = workload("default", 1, 10);
  job.iterations = 10;
  const auto result = run_workload(cluster(1, 2), job, kModel);
  ASSERT_EQ(result.devices.size(), 2u) << "the worker and its processor; the other GPU is not ours";
  EXPECT_NEAR(*result.devices[0].joules, 20 * 0.3, kExact);
  EXPECT_NEAR(*result.devices[1].joules, 250 * 0.3, kExact);
  EXPECT_NEAR(*result.joules, 270 * 0.3, kExact);
  auto unknown = cluster(1, 1);
  unknown.devices[0].max_watts = 0;
  const auto partly = run_workload(unknown, job, kModel);
  EXPECT_FALSE(partly.joules.has_value());
  EXPECT_TRUE(partly.devices[1].joules.has_value());
}

TEST(RunWorkload, CablesDrawTheirPowerAndMoreWhenTheyCarry) {
  auto nodes = cluster(3, 1);
  auto job = workload("all-reduce", 2, 2);  // the third node's cable carries nothing
  job.iterations = 10;
  const RunResult silent = run_workload(nodes, job, kModel);
  EXPECT_FALSE(silent.network_joules.has_value());
  EXPECT_EQ(silent.cables, 2u);
  nodes.network.idle_watts = 2;
  nodes.network.max_watts = 10;
  const RunResult out = run_workload(nodes, job, kModel);
  // A ring of two: each sends all 100 MB of gradients once a step, so every cable is as full each way.
  const double full = 10 * 100e6 / 1e9;
  EXPECT_NEAR(*out.network_joules, 2 * (2 * out.t_exec + 8 * full), 1e-6);
  EXPECT_NEAR(*out.joules, *silent.joules + *out.network_joules, 1e-6);
}

TEST(RunWorkload, SomeThreadsOfAProcessorTakeLongerAndDrawLess) {
  const auto nodes = cluster(1, 1);
  auto job = workload("default", 1, 4);
  job.device = "cpu";
  const RunResult all = run_workload(nodes, job, kModel);
  job.threads = 250;  // a quarter of its cores
  const RunResult some = run_workload(nodes, job, kModel);
  EXPECT_NEAR(some.t_exec, 4 * all.t_exec, kExact);
  EXPECT_NEAR(*some.joules - 20 * some.t_exec, *all.joules - 20 * all.t_exec, 1e-6);
  job.device = "gpu";
  EXPECT_TRUE(mentions(complaint([&] { run_workload(nodes, job, kModel); }), "threads"));
}

TEST(RunWorkload, ASlowerClockTakesLongerAndDrawsLess) {
  auto nodes = cluster(1, 1);
  nodes.devices[1].clocks = {5e8};
  auto job = workload("default", 1, 4);
  const RunResult full = run_workload(nodes, job, kModel);
  job.clock = 5e8;
  const RunResult half = run_workload(nodes, job, kModel);
  EXPECT_NEAR(half.t_exec, 2 * full.t_exec, kExact);
  EXPECT_NEAR(*half.devices[1].joules, (50 + 100) * half.t_exec, 1e-6);
}

TEST(RunWorkload, MicroBatchesAndTheSchedulerAreTheWorkloads) {
  auto job = workload("pipeline", 2, 16);
  job.micro_batches = 1;
  const double one = run_workload(cluster(1, 2), job, kModel).t_exec;
  job.micro_batches = 8;
  EXPECT_LT(run_workload(cluster(1, 2), job, kModel).t_exec, 0.8 * one);
  job.scheduler = "nosuch";
  EXPECT_TRUE(mentions(complaint([&] { run_workload(cluster(1, 2), job, kModel); }), "nosuch"));
}

TEST(RunWorkload, StartingAnOperationTakesItsTimeWhateverTheBatch) {
  auto nodes = cluster(1, 1);
  const auto job = workload("default", 1, 4);
  const double before = run_workload(nodes, job, kModel).t_exec;
  nodes.devices[1].overhead = 0.01;
  EXPECT_NEAR(run_workload(nodes, job, kModel).t_exec, before + 8 * 0.01,
              kExact);  // four layers, there and back
}

TEST(RunWorkload, StragglersDelayAllAndFollowTheSeed) {
  auto job = workload("all-reduce", 4, 40);
  job.iterations = 100;
  const double even = run_workload(cluster(1, 4), job, kModel).t_exec;
  job.straggler = 0.1;
  RunOptions options;
  const double one = run_workload(cluster(1, 4), job, kModel, options).t_exec;
  EXPECT_EQ(run_workload(cluster(1, 4), job, kModel, options).t_exec, one);
  EXPECT_GT(one, 1.03 * even) << "the slowest of four, at one standard deviation about";
  EXPECT_LT(one, 1.3 * even);
  options.seed = 2;
  EXPECT_NE(run_workload(cluster(1, 4), job, kModel, options).t_exec, one);
  options.seed = 1;
  options.jump = false;
  EXPECT_NEAR(run_workload(cluster(1, 4), job, kModel, options).t_exec, one, 0.05 * one)
      << "32 draws for 100";
  job.iterations = 20;
  const double all = run_workload(cluster(1, 4), job, kModel, options).t_exec;
  options.jump = true;
  EXPECT_NEAR(run_workload(cluster(1, 4), job, kModel, options).t_exec, all, kExact)
      << "every step was drawn";
}

// A second type of GPU with half the speed and little memory, in a node of its own after the others.
spec::Cluster with_a_slow_node(spec::Cluster out) {
  auto slow = out.devices[1];
  slow.name = "slow";
  slow.efficiency = 0.5;
  slow.memory = 2 * kGiB;
  out.devices.push_back(slow);
  auto node = out.types[0];
  node.name = "loaded";
  node.devices = {{"cpu", 1}, {"slow", 1}};
  out.types.push_back(node);
  out.nodes.push_back({"loaded", 1});
  return out;
}

TEST(RunWorkload, ChosenWorkersOfDifferentTypesAreAsSlowAsTheSlowest) {
  const auto spec = with_a_slow_node(cluster(2, 1));  // GPUs 1, 3 and the slow 5
  const auto light = chain(4, 0.00025, 1);
  const auto job = workload("parameter-server", 2, 20);
  RunOptions options;
  options.strategy.servers_apart = true;
  options.strategy.devices = {1, 3};
  EXPECT_NEAR(run_workload(spec, job, light, options).t_exec, 0.030, 1e-6);
  options.strategy.devices = {1, 5};
  EXPECT_NEAR(run_workload(spec, job, light, options).t_exec, 0.060, 1e-6);
  options.strategy.devices = {5, 1};
  EXPECT_NEAR(run_workload(spec, job, light, options).t_exec, 0.060, 1e-6);
}

TEST(RunWorkload, EveryChosenWorkerMustHaveTheMemory) {
  const auto spec = with_a_slow_node(cluster(2, 1));
  const auto large = chain(4, 0.00025, 62.5e6);  // 3 GB
  const auto job = workload("parameter-server", 2, 20);
  RunOptions options;
  options.strategy.devices = {1, 3};
  EXPECT_GT(run_workload(spec, job, large, options).t_exec, 0);
  options.strategy.devices = {1, 5};
  EXPECT_TRUE(mentions(complaint([&] { run_workload(spec, job, large, options); }), "on a 'slow'"));
}

TEST(Asynchronous, OneWorkerIsAsFastAsASynchronousOne) {
  auto job = workload("parameter-server", 1, 10);
  job.iterations = 20;
  const auto synchronous = run_workload(cluster(1, 1), job, kModel);
  job.synchronous = false;
  const auto asynchronous = run_workload(cluster(1, 1), job, kModel);
  EXPECT_NEAR(asynchronous.t_exec, synchronous.t_exec, kExact);
  EXPECT_EQ(asynchronous.operations, synchronous.operations);
}

TEST(Asynchronous, TheRestGoesOnAtThePaceOfTheFirstSteps) {
  auto spec = cluster(2, 1);
  spec.types[0].storage = 1e9;
  auto job = workload("parameter-server", 2, 10);
  job.synchronous = false;
  job.iterations = 101;
  job.sample_bytes = 1e6;
  const auto jumped = run_workload(spec, job, kModel), all = run_workload(spec, job, kModel, every_step());
  EXPECT_TRUE(jumped.extrapolated);
  EXPECT_FALSE(all.extrapolated);
  EXPECT_NEAR(jumped.t_exec, all.t_exec, 1e-3 * all.t_exec);
  EXPECT_NEAR(jumped.t_comp, all.t_comp, kExact);
  EXPECT_EQ(jumped.operations, all.operations);
  EXPECT_EQ(jumped.operations, 101 * 2 * 9);
  EXPECT_NEAR(jumped.traffic[static_cast<std::size_t>(LinkClass::storage)].sent, 1010e6, 1);
}

TEST(Asynchronous, ASlowWorkerDoesNotHoldTheOthersUp) {
  auto job = workload("parameter-server", 4, 40);
  job.iterations = 50;
  job.straggler = 0.3;
  const auto synchronous = run_workload(cluster(1, 4), job, kModel, every_step());
  job.synchronous = false;
  const auto asynchronous = run_workload(cluster(1, 4), job, kModel, every_step());
  EXPECT_LT(asynchronous.t_exec, synchronous.t_exec);
  EXPECT_EQ(asynchronous.operations, synchronous.operations);
}

// Pull, forward and backward, and what is left of the push: usage falls as one server sends more copies.
TEST(RunWorkload, UsageOfAParameterServerFallsWithWorkersAndOfARingHardly) {
  double server = 1;
  for (const int workers : {2, 4, 8}) {
    auto job = workload("parameter-server", workers, 100);
    job.strong = false;
    job.iterations = 8;
    const double usage = run_workload(cluster(8, 1), job, kModel).usage;
    EXPECT_LT(usage, 0.95 * server);
    server = usage;
    job.strategy = "all-reduce";
    EXPECT_GT(run_workload(cluster(8, 1), job, kModel).usage, server);
  }
}

TEST(RunWorkload, ImpossibleJobsAreSaidToBeSo) {
  const auto pair = workload("all-reduce", 2, 2);
  EXPECT_TRUE(mentions(complaint([&] { run_workload(cluster(1, 1), pair, kModel); }), "2 workers"));
  auto spec = cluster(2, 1);
  spec.network.bandwidth = 0;
  EXPECT_TRUE(mentions(complaint([&] { run_workload(spec, pair, kModel); }), "no bandwidth"));
  spec = cluster(1, 1);
  spec.devices[1].clock = 0;
  EXPECT_TRUE(
      mentions(complaint([&] { run_workload(spec, workload("default", 1, 1), kModel); }), "no speed"));
  auto job = workload("default", 1, 1);
  job.straggler = -1;
  EXPECT_TRUE(mentions(complaint([&] { run_workload(cluster(1, 1), job, kModel); }), "straggler"));
}

}  // namespace
}  // namespace tandem::sim
