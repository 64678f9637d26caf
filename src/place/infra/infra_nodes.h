// The node catalogue of infrastructure-aware placement: what is installed on each node, and what was seen
// of it.
//
// Nodes are known by host name. A node whose hardware is no longer what the catalogue says gets a new entry,
// and all that was seen of the old machine is forgotten: a history of other cores says nothing about these.
// Of each node the last `window` observations are kept, and the last as many reports of how its work went.
// Plain state, one owner; pure.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "base/units.h"

namespace tandem::place {

// What nodes are watched for.
enum class Resource : unsigned char { cpu, memory, network, gpu, gpu_memory };
inline constexpr std::size_t kResources = 5;
inline constexpr std::array kAllResources{Resource::cpu, Resource::memory, Resource::network, Resource::gpu,
                                          Resource::gpu_memory};
const char* name(Resource);

// A number for each resource: what is in use (0 to 1), a threshold on that, a weight.
struct Shares {
  std::array<double, kResources> of{};
  double& operator[](Resource which) { return of[static_cast<std::size_t>(which)]; }
  double operator[](Resource which) const { return of[static_cast<std::size_t>(which)]; }
  bool operator==(const Shares&) const = default;
};

// What is installed.
struct NodeFacts {
  int cores = 0;
  double clock = 0;  // Hz
  Bytes memory = 0;
  int gpus = 0;
  Bytes gpu_memory = 0;  // of each GPU
  double bandwidth = 0;  // bytes a second of its way to the network
  bool operator==(const NodeFacts&) const = default;
};
// How much there is of a resource: cycles a second, bytes, bytes a second, GPUs, bytes.
double amount(const NodeFacts&, Resource);

struct Observation {
  Seconds at;       // when it was made
  Shares in_use{};  // 0 to 1, by everything that runs there. Network: what cannot be had of the bandwidth
  Seconds latency;  // to the master and back
};

struct Node {
  NodeFacts facts{};
  int entry = 1;                   // counts the hardware this host has had
  std::deque<Observation> seen{};  // the newest last
  std::deque<double> slowness{};   // of work it took part in: its step time over the median worker's
  Shares held{};  // by our own tasks, where what is seen is what others use: no load, but not free either
};

enum class Found { joined, same, changed };

class Catalogue {
 public:
  explicit Catalogue(std::size_t window = 30) : window_(window) {}

  // What a look at a node's hardware says.
  Found found(const std::string& host, const NodeFacts&);
  void gone(const std::string& host) { nodes_.erase(host); }
  void holds(const std::string& host, const Shares& held) { node(host).held = held; }
  // Throw SystemError: a host that is not in the catalogue, or numbers that cannot be (a share above 1).
  void observed(const std::string& host, const Observation&);
  void worked(const std::string& host, double slowness);

  const std::map<std::string, Node>& nodes() const { return nodes_; }

 private:
  Node& node(const std::string& host);

  std::size_t window_;
  std::map<std::string, Node> nodes_;
};

}  // namespace tandem::place
