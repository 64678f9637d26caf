// What the tests of training steps share: small clusters and models with round numbers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/complaint_for_test.h"
#include "base/error.h"
#include "graph/operations.h"
#include "spec/cluster.h"

namespace tandem::sim::step_testing {

// Nodes with one processor and some GPUs, all of 1e12 FLOP/s; PCIe 10 GB/s, a star of 1 GB/s cables.
inline spec::Cluster cluster(int nodes, int gpus) {
  spec::DeviceType gpu;
  gpu.name = "gpu";
  gpu.gpu = true;
  gpu.cores = 1000;
  gpu.clock = 1e9;
  gpu.flops_a_cycle = 1;
  gpu.idle_watts = 50;
  gpu.max_watts = 250;
  spec::DeviceType cpu = gpu;
  cpu.name = "cpu";
  cpu.gpu = false;
  cpu.idle_watts = 20;
  cpu.max_watts = 100;
  spec::NodeType box;
  box.name = "box";
  box.devices = {{"cpu", 1}, {"gpu", gpus}};
  box.pcie = 10e9;
  spec::Cluster out;
  out.name = "test";
  out.devices = {cpu, gpu};
  out.types = {box};
  out.nodes = {{"box", nodes}};
  out.network.bandwidth = 1e9;
  return out;
}

// An input, then layers one after the other; forward they take `seconds` a sample each, backward twice that.
inline graph::Model chain(std::uint32_t layers, double seconds, double parameters, double outputs = 0) {
  graph::Model out;
  out.name = "chain";
  out.operations.push_back({"input", graph::Kind::input, {}, 0, 0, 0, outputs});
  for (std::uint32_t i = 0; i < layers; ++i)
    out.operations.push_back({"layer" + std::to_string(i),
                              graph::Kind::dense,
                              {i},
                              1e12 * seconds,
                              2e12 * seconds,
                              parameters,
                              outputs});
  return out;
}

inline spec::Workload workload(const std::string& strategy, int workers, std::int64_t batch) {
  spec::Workload out;
  out.name = "job";
  out.strategy = strategy;
  out.workers = workers;
  out.batch = batch;
  out.iterations = 1;
  return out;
}

}  // namespace tandem::sim::step_testing
