// The workloads of "TensorFlow in OpenDC" (Lai 2020) on its two clusters, run by the simulator; and the
// numbers the thesis prints of them. Efficiencies are calibrated on its one-device rows.
#pragma once

#include <array>
#include <map>
#include <string>

#include "graph/operations.h"
#include "sim/workload/run_workload.h"
#include "spec/cluster.h"

namespace tandem::bench {

inline constexpr std::array kBatches{16, 32, 64, 128};
inline constexpr std::array kWorkers{1, 2, 4, 8};
inline constexpr int kSamples = 142 * 64;  // of A1: one pass, whatever the batch

struct Printed {
  std::array<double, 4> seconds{59.64, 51.40, 48.99, 47.14};  // table 5.5, one GPU, by batch
  std::array<double, 4> memory{2.03, 1.48, 1.20, 1.06};
  using Square = std::array<std::array<double, 4>, 4>;  // by batch, then workers
  Square server_usage{{{.847, .793, .708, .584},        // table 5.8
                       {.905, .869, .808, .707},
                       {.948, .927, .888, .822},
                       {.965, .954, .932, .893}}};
  Square mirrored_usage{{{.856, .857, .857, .856},
                         {.912, .911, .909, .908},
                         {.951, .952, .951, .949},
                         {.968, .968, .967, .967}}};
  Square kilowatt_hours{{{240.9, 241.0, 241.1, 241.5},  // table 5.7, of both strategies
                         {120.5, 120.5, 120.7, 119.4},
                         {60.2, 60.3, 59.7, 58.3},
                         {150.6, 148.5, 144.5, 136.4}}};
  double default_kilowatt_hours = 4.24;
};

struct Outcome {
  double seconds = 0, usage = 0, communication = 0, memory = 0;
  double watt_hours = 0;  // of the GPUs that compute
};

// AlexNet over Caltech 101 on KTH's nine nodes of one K80; a parameter server has a node of its own.
class Kth {
 public:
  Kth();
  // On one GPU, the efficiency calibrated on batch 64.
  Outcome alone(int batch);
  // The same, with a time that starting an operation takes, calibrated on batch 16.
  Outcome alone_with_starts(int batch);
  double starting_seconds(int batch);  // of an iteration: what all its starts take
  Outcome several(const std::string& strategy, int batch, int workers, bool overlap);
  double efficiency(int batch);
  double parameter_bytes() const;
  double cable() const { return cluster_.network.bandwidth; }
  double gpu_memory_bandwidth() const;

 private:
  struct Speed {
    double efficiency = 0, overhead = 0;
  };
  Outcome run(const spec::Workload&, const Speed&);
  double efficiency_with(int batch, double overhead);
  Speed with_starts();

  spec::Cluster cluster_;
  graph::Model model_;
  std::map<int, double> efficiencies_;  // by batch
};

// Fathom's two models on Minsky nodes, 200 iterations, data in memory.
class Minsky {
 public:
  enum class Where {
    one_node,
    own_nodes
  };  // all in one node; each GPU, and the server, in a node of its own
  Minsky(const std::string& model, int batch, double printed_seconds);
  // Of all 200 iterations.
  Outcome run(const std::string& strategy, int workers, Where);
  double parameter_bytes() const;

 private:
  double seconds_alone(double efficiency);

  spec::Cluster cluster_;
  graph::Model model_;
  int batch_;
};

}  // namespace tandem::bench
