// A small simulation for tests: two machines with two GPUs each, and what is to run on them.
#pragma once

#include <string>
#include <vector>

#include "app/catalogue.h"
#include "app/installation.h"
#include "app/sim_grid.h"
#include "spec/parse_sim.h"

namespace tandem::app::sample {

inline spec::SimJob sim_job(const std::string& workloads,
                            const std::string& gpu_power = "power: [50W, 250W]") {
  return spec::require_sim(R"(kind: sim
name: small
cluster:
  name: pair
  devices:
    cpu: {kind: cpu, cores: 8, clock: 2GHz, power: [20W, 80W]}
    gpu: {kind: gpu, cores: 1000, clock: 1GHz, memory: 4GB, memory_bandwidth: 200GB/s, )" +
                               gpu_power + R"(}
  node_types:
    box: {devices: {cpu: 1, gpu: 2}, pcie: 10GB/s, storage: 1GB/s}
  nodes: {box: 2}
  network: {bandwidth: 1GB/s, latency: 10us}
workloads:
)" + workloads,
                           "small.yaml", catalogue());
}

inline spec::SimJob two_workloads() {
  return sim_job(
      "  - {name: alone, model: lenet5, batch: 64, iterations: 10}\n"
      "  - {name: ring, model: lenet5, batch: 64, iterations: 10, strategy: all-reduce, workers: 4, "
      "sample_bytes: 1kB}\n");
}

inline std::vector<SimRow> rows_of(const spec::SimJob& job, const std::vector<std::string>& sweep = {},
                                   GridOptions options = {}) {
  options.seed = job.seed;
  return run_grid(job.cluster, cells_of(job, parse_sweep(sweep), catalogue()), options);
}

}  // namespace tandem::app::sample
