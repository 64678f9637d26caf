// The testbed of Infrastructure-Aware TensorFlow (section 3.2.1) and what is done to it, for the simulator
// and for the policy: the simulator gets devices that are slower by what others use, the policy gets what a
// monitor would see of them, with its noise.
//
// From the paper: eight servers with two 12-core E5-2670 v3 at 2.3 GHz, 128 GB, two P100 and 10 Gb/s;
// background jobs of 10 % CPU, 20 % GPU, 4 GB and 2.6 GB of GPU memory each, several on a node; `stress` on
// CPU and memory; `netem` on links. What had to be assumed is in assumptions().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "place/infra/infra_nodes.h"
#include "sim/step/devices.h"
#include "spec/cluster.h"

namespace tandem::bench {

inline constexpr int kWorkerNodes = 7;    // the eighth is the master
inline constexpr double kCable = 1.25e9;  // bytes a second: 10 Gb/s

// What is done to a worker node.
struct Condition {
  int background = 0;         // jobs
  bool stressed = false;      // by `stress`
  double bandwidth = kCable;  // that `netem` leaves
  double delay = 0;           // s that `netem` holds back what the node sends
  bool operator==(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;  // of each worker node

Conditions quiet();

// Node 0 is the master; worker node i is node i + 1.
spec::Cluster cluster_of(const Conditions&);
sim::DeviceId gpu_of(std::size_t worker_node);
std::string host_of(std::size_t worker_node);

// What others use there, in truth.
place::Shares in_use(const Condition&);
// What a monitor has seen of the nodes until `now`, look by look.
struct Watched {
  place::Catalogue catalogue{};
  Seconds now{};
};
Watched watch(const Conditions&, std::uint64_t seed);

const std::vector<std::string>& assumptions();

}  // namespace tandem::bench
