#include "sim/calibrate.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/zoo.h"
#include "sim/workload/run_workload.h"

namespace tandem::sim {
namespace {

spec::DeviceType machine() {
  spec::DeviceType out;
  out.name = "cpu";
  out.cores = 4;
  out.clock = 2e9;
  out.flops_a_cycle = 16;
  return out;
}

double simulated(const spec::DeviceType& device, const graph::Model& model, std::int64_t samples,
                 std::int64_t batch, int threads) {
  spec::Cluster cluster;
  cluster.name = "one";
  cluster.devices = {device};
  cluster.types.push_back({.name = "node", .devices = {{"cpu", 1}}});
  cluster.nodes = {{"node", 1}};
  spec::Workload workload;
  workload.name = "w";
  workload.batch = batch;
  workload.samples = samples;
  workload.epochs = 1;
  workload.threads = threads;
  return run_workload(cluster, workload, model).t_exec;
}

TEST(Calibrate, FindsTheMachineThatMadeTheNumbersAndPredictsOtherBatchesAndCores) {
  const auto model = graph::make("lenet5");
  auto truth = machine();
  truth.efficiency = 0.21, truth.overhead = 35e-6, truth.added_core = 0.62;
  std::vector<MeasuredEpoch> epochs;
  for (const std::int64_t batch : {64, 512})
    for (const int cores : {1, 2})
      epochs.push_back({batch, cores, simulated(truth, model, 6000, batch, cores)});
  const auto found = calibrate(model, 6000, epochs, machine());
  EXPECT_NEAR(found.device.efficiency, 0.21, 0.21 * 0.02);
  EXPECT_NEAR(found.device.overhead, 35e-6, 1e-6);
  EXPECT_NEAR(found.device.added_core, 0.62, 0.01);
  EXPECT_TRUE(found.notes.empty());
  EXPECT_LT(found.worst_error, 0.01);
  for (const std::int64_t batch : {32, 256, 1024})
    for (const int cores : {1, 2, 4}) {
      const double expected = simulated(truth, model, 6000, batch, cores);
      EXPECT_NEAR(simulated(found.device, model, 6000, batch, cores), expected, 0.02 * expected)
          << batch << " " << cores;
    }
}

TEST(Calibrate, TheFormulaIsWhatTheSimulatorDoes) {
  const auto model = graph::make("lenet5");
  auto device = machine();
  device.efficiency = 0.3, device.overhead = 20e-6, device.added_core = 0.5;
  for (const std::int64_t batch : {1, 48, 6000})
    for (const int cores : {1, 3}) {
      const double expected = simulated(device, model, 6000, batch, cores);
      EXPECT_NEAR(epoch_seconds(device, model, 6000, batch, cores), expected, 1e-6 * expected) << batch;
    }
}

TEST(Calibrate, SaysWhatOneBatchSizeAndOneNumberOfCoresCannotTell) {
  const auto model = graph::make("lenet5");
  const auto found = calibrate(model, 6000, {{64, 2, 3.0}, {64, 2, 3.2}}, machine());
  EXPECT_EQ(found.notes.size(), 2u);
  EXPECT_EQ(found.device.overhead, 0);
  EXPECT_NEAR(epoch_seconds(found.device, model, 6000, 64, 2), 3.1, 0.05);
}

TEST(Calibrate, RefusesWhatCannotBe) {
  const auto model = graph::make("lenet5");
  EXPECT_THROW(calibrate(model, 6000, {}, machine()), UserError);
  EXPECT_THROW(calibrate(model, 6000, {{0, 1, 1.0}}, machine()), UserError);
  EXPECT_THROW(calibrate(model, 6000, {{64, 1, 0.0}}, machine()), UserError);
  EXPECT_THROW(calibrate(model, 0, {{64, 1, 1.0}}, machine()), UserError);
}

}  // namespace
}  // namespace tandem::sim
