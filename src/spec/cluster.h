// What a planner says of machines and of what shall run on them. Plain values, validated when they are parsed
// (spec/parse_sim.h); check() there is for values that a program made or changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/catalogue.h"
#include "base/units.h"

namespace tandem::spec {

// A processor or an accelerator.
struct DeviceType {
  std::string name;  // "K80"
  bool gpu = false;
  int cores = 1;
  double clock = 0;             // Hz
  double flops_a_cycle = 2;     // a core's; 2: one multiply and add
  double efficiency = 1;        // share of the peak that dense arithmetic reaches
  double added_core = 1;        // what each core after the first adds, as a share of it
  double overhead = 0;          // s: starting an operation takes, whatever its size
  Bytes memory = 0;             // 0: not limited
  double memory_bandwidth = 0;  // bytes a second; 0: never the limit
  double idle_watts = 0, max_watts = 0;
  std::vector<double> clocks{};  // other steps it can run at, Hz, rising; the full clock is always one
  double peak_flops() const { return (1 + (cores - 1) * added_core) * clock * flops_a_cycle; }
  bool operator==(const DeviceType&) const = default;
};

// How GPUs of a node reach its memory and each other, and what the node reads its data from.
struct NodeType {
  std::string name;
  struct Part {
    std::string device;
    int count = 1;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> devices;
  double pcie = 12e9;      // bytes a second of one uplink to the host, each way
  int gpus_an_uplink = 1;  // GPUs behind one uplink
  double nvlink = 0;   // bytes a second between neighbours in a ring of GPUs, each way; 0: none, PCIe is used
  double storage = 0;  // bytes a second of local storage; 0: none
  double feed = 0;     // bytes a second of decoded samples the host can hand to its GPUs; 0: never the limit
  bool operator==(const NodeType&) const = default;
};

struct NetworkSpec {
  std::string kind = "star";  // a name of network_kinds()
  double bandwidth = 0;       // bytes a second of a node's cable, each way
  double latency = 0;         // s, of a cable
  double idle_watts = 0,
         max_watts = 0;      // of a cable with its ports: idle, and full both ways; 0: not counted
  int nodes_a_leaf = 0;      // fat-tree
  double uplink = 0;         // fat-tree: bytes a second of a leaf's way up
  std::vector<int> sizes{};  // torus
  int switches = 0;          // cables
  struct CableSpec {
    int from = 0, to = 0;  // nodes, then switches, from 0
    double bandwidth = 0, latency = 0;
    bool operator==(const CableSpec&) const = default;
  };
  std::vector<CableSpec> cables{};
  bool operator==(const NetworkSpec&) const = default;
};

struct Failures {
  Seconds between;  // mean time between failures of a node
  Seconds repair;   // mean time to repair
  bool operator==(const Failures&) const = default;
};

struct Cluster {
  std::string name;
  std::vector<DeviceType> devices;
  std::vector<NodeType> types;
  struct Group {
    std::string type;
    int count = 1;
    bool operator==(const Group&) const = default;
  };
  std::vector<Group> nodes;
  NetworkSpec network;
  double shared_storage = 0;  // bytes a second of a file system all nodes share; 0: none
  std::optional<Failures> failures{};
  int node_count() const;
  std::int64_t device_count(const std::string& which) const;  // of a device, in all nodes
  const DeviceType* device(const std::string& which) const;   // null: there is no such type
  bool operator==(const Cluster&) const = default;
};

// One training job to simulate.
struct Workload {
  std::string name;
  std::string model;            // of the zoo, or a file (model_file)
  std::string model_file;       // JSON (graph/import.h)
  std::int64_t batch = 0;       // a worker's (weak scaling), or of all together (strong)
  bool strong = true;           // scaling: the samples of a step are divided among the workers
  std::int64_t iterations = 0;  // of all workers together; or:
  std::int64_t samples = 0;     // of the dataset
  double epochs = 0;
  double sample_bytes = 0;           // read from storage for each sample; 0: data is in memory
  std::string strategy = "default";  // a name of sim::strategies()
  int workers = 1;                   // devices that compute
  int servers = 1;                   // of a parameter server
  bool synchronous = true;
  bool variables_on_gpu = false;
  bool overlap = true;                    // communication with the backward pass
  std::string device;                     // type that computes; empty: the first GPU there is, else the CPU
  int threads = 0;                        // cores of a processor that compute; 0: all it has
  double clock = 0;                       // Hz the workers run at, one of their device's steps; 0: full speed
  std::string scheduler = "depth-first";  // of operations that are ready, a name of sim::schedulers()
  int micro_batches = 0;                  // of a pipeline; 0: four a worker, as far as there are samples
  double straggler = 0;                   // standard deviation of workers' step times, as a share
  bool operator==(const Workload&) const = default;
};

struct SimJob {
  std::string name;
  Cluster cluster;
  std::vector<Workload> workloads;
  std::uint64_t seed = 1;
  bool operator==(const SimJob&) const = default;
};

// What a workload computes on: the device it names, else the first GPU of `devices` that some node has, else
// the first device that some node has. Null when there is none.
const DeviceType* computes_on(const Workload&, const Cluster&);

// star, fat-tree, torus, cables; each with what it means.
const std::vector<ChoiceEntry>& network_kinds();

}  // namespace tandem::spec
