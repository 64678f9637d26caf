#include "sim/step/step_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/step/step_testing.h"

namespace tandem::sim {
namespace {

using step_testing::chain;
using step_testing::cluster;

// A cluster of one node: device 0 is its processor, 1 and 2 are GPUs with 10 GB/s between them.
struct OneNode {
  Engine engine;
  Devices devices{engine, cluster(1, 2)};
  StepRunner runner{engine, devices, 0.3};
};

TEST(StepCost, ARooflineIsTheLongerOfArithmeticAndMoving) {
  auto device = cluster(1, 1).devices[1];
  EXPECT_DOUBLE_EQ(cost(device, 1, 2e12, 1e12).seconds, 2) << "no bandwidth is given: never the limit";
  device.memory_bandwidth = 100e9;
  EXPECT_DOUBLE_EQ(cost(device, 1, 2e12, 100e9).seconds, 2);
  EXPECT_DOUBLE_EQ(cost(device, 1, 2e12, 100e9).memory, 0);
  EXPECT_DOUBLE_EQ(cost(device, 1, 2e12, 300e9).seconds, 3);
  EXPECT_DOUBLE_EQ(cost(device, 1, 2e12, 300e9).memory, 1);
  EXPECT_DOUBLE_EQ(cost(device, 0.5, 2e12, 300e9).seconds, 4) << "half the clock";
  device.efficiency = 0.25;
  EXPECT_DOUBLE_EQ(cost(device, 1, 2e12, 300e9).seconds, 8);
}

TEST(StepCost, AStepPassesFourTimesOverTheParameters) {
  auto device = cluster(1, 1).devices[1];
  device.memory_bandwidth = 4;
  const auto model = chain(1, 0, 10, 3);
  const double forward = pass_cost(device, 1, model, 1, false, 2).seconds;
  const double backward = pass_cost(device, 1, model, 1, true, 2).seconds;
  EXPECT_DOUBLE_EQ(forward, 10 + 2 * 6);
  EXPECT_DOUBLE_EQ(backward, 30 + 4 * 6);
  EXPECT_DOUBLE_EQ(pass_cost(device, 1, model, 0, false, 2).seconds, 0) << "the input";
}

TEST(StepCost, MemoryThatIsTooSmallIsSaid) {
  auto device = cluster(1, 1).devices[1];
  const auto model = chain(2, 0, 1000, 500);
  EXPECT_DOUBLE_EQ(memory_needed(model, {0, 1, 2}, 4), 4.0 * (3 * 2000 + 4 * 1500));
  check_memory(device, model, {0, 1, 2}, 4);  // not limited
  device.memory = 48000;
  check_memory(device, model, {0, 1, 2}, 4);
  EXPECT_TRUE(mentions(complaint([&] { check_memory(device, model, {0, 1, 2}, 5); }), "smaller batch"));
}

TEST(StepRunner, ADeviceDoesOneThingAtATimeLowestOrderFirst) {
  OneNode node;
  std::vector<Span> spans;
  node.runner.record(&spans);
  Plan plan;
  plan.compute(Purpose::backward, 1, {2, 0}, 7);
  plan.compute(Purpose::update, 1, {1, 0.5}, 0);
  plan.compute(Purpose::forward, 2, {4, 0}, 1);
  const auto result = node.runner.run(plan);
  EXPECT_DOUBLE_EQ(result.seconds, 4);
  EXPECT_DOUBLE_EQ(result.busy[1], 3);
  EXPECT_DOUBLE_EQ(result.memory[1], 0.5);
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].purpose, Purpose::update);
  EXPECT_DOUBLE_EQ(spans[1].from, 1);
  EXPECT_DOUBLE_EQ(spans[1].to, 3);
}

TEST(StepRunner, WaitsAndJoinsAndCopiesFollowTheirEdges) {
  OneNode node;
  Plan plan;
  const TaskIndex first = plan.compute(Purpose::forward, 1, {1, 0});
  const TaskIndex sent = plan.copy(Purpose::send, 1, 2, 20e9, {first});
  const TaskIndex kept = plan.copy(Purpose::send, 1, 1, 20e9, {first});
  const TaskIndex second = plan.compute(Purpose::forward, 2, {1, 0});
  plan.after(second, plan.join({sent, kept}));
  Task launch;
  launch.purpose = Purpose::launch;
  launch.amount = 0.5;
  plan.trained = plan.add(launch, {second});
  plan.copy(Purpose::send, 2, 1, 60e9, {});
  const auto result = node.runner.run(plan);
  EXPECT_DOUBLE_EQ(result.trained, 4.5);
  EXPECT_DOUBLE_EQ(result.seconds, 6) << "the last copy goes on";
  const Traffic& pcie = result.traffic[static_cast<std::size_t>(LinkClass::pcie)];
  EXPECT_DOUBLE_EQ(pcie.sent, 80e9);
  EXPECT_DOUBLE_EQ(pcie.received, 80e9);
  EXPECT_DOUBLE_EQ(node.runner.run(plan).seconds, 6) << "again, on the same engine";
}

// The study's combination of computing w and a collective c.
TEST(StepRunner, ACollectiveAndComputingDelayEachOtherByAShareOfTheShorter) {
  OneNode node;
  for (const double w : {0.0, 0.1, 1.0, 2.0, 5.0})
    for (const double c : {0.0, 0.1, 1.0, 2.0, 5.0}) {
      Plan plan;
      for (const DeviceId gpu : {1u, 2u}) {
        plan.compute(Purpose::backward, gpu, {w, 0});
        plan.copy(Purpose::reduce, gpu, 3 - gpu, c * 10e9);
      }
      const auto result = node.runner.run(plan);
      EXPECT_NEAR(result.seconds, std::max(w, c) + 0.3 * std::min(w, c), 1e-9) << w << " " << c;
      EXPECT_NEAR(result.work[1], w, 1e-9);
    }
}

TEST(StepRunner, ComputingInManyPiecesIsDelayedAsMuch) {
  OneNode node;
  Plan plan;
  for (const DeviceId gpu : {1u, 2u}) {
    TaskIndex last = kNoTask;
    for (int i = 0; i < 100; ++i) {
      const TaskIndex next = plan.compute(Purpose::backward, gpu, {0.02, 0});
      plan.after(next, last);
      last = next;
    }
    plan.copy(Purpose::reduce, gpu, 3 - gpu, 10e9);
  }
  EXPECT_NEAR(node.runner.run(plan).seconds, 2 + 0.3, 1e-9);
}

TEST(StepRunner, OtherCopiesSlowNothing) {
  OneNode node;
  Plan plan;
  plan.compute(Purpose::backward, 1, {2, 0});
  plan.copy(Purpose::push, 1, 2, 10e9);
  EXPECT_DOUBLE_EQ(node.runner.run(plan).seconds, 2);
}

TEST(StepRunner, HungerIsWhatABeginWaitedLongerThanForWhatWasBefore) {
  auto spec = cluster(1, 1);
  spec.types[0].storage = 1e9;
  spec.types[0].feed = 2e9;
  Engine engine;
  Devices devices(engine, spec);
  StepRunner runner(engine, devices, 0);
  Plan plan;
  const TaskIndex before = plan.compute(Purpose::forward, 1, {1, 0});
  Task read;
  read.purpose = Purpose::read;
  read.device = 1;
  read.amount = 3e9;
  Task begin;
  begin.purpose = Purpose::begin;
  begin.device = 1;
  begin.previous = before;
  Task feed = read;
  feed.purpose = Purpose::feed;
  const TaskIndex begun = plan.add(begin, {before, plan.add(read)});
  plan.add(feed, {begun});
  const auto result = runner.run(plan);
  EXPECT_DOUBLE_EQ(result.seconds, 4.5);
  EXPECT_DOUBLE_EQ(result.starved[1], 2 + 1.5);
}

TEST(StepResult, AddsUpTimesAndCounts) {
  OneNode node;
  Plan plan;
  const TaskIndex id = plan.compute(Purpose::forward, 1, {2, 1});
  plan.tasks[id].operations = 5;
  const auto once = node.runner.run(plan);
  StepResult sum;
  sum.add(once, 3);
  sum.add(once, -1);
  EXPECT_DOUBLE_EQ(sum.seconds, 4);
  EXPECT_DOUBLE_EQ(sum.busy[1], 4);
  EXPECT_EQ(sum.operations, 10);
}

}  // namespace
}  // namespace tandem::sim
