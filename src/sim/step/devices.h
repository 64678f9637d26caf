// What a cluster consists of, built on an engine: devices that compute and the ways between them.
//
// Devices are numbered node by node, in the order in which the cluster names them. Each is a host of the
// engine with a speed of 1, so the amount of a computation is its seconds at full speed (step_cost.h). The
// ways:
//
//   GPU to its node's memory   its own PCIe lanes, then the uplink it shares with others behind a switch
//   GPU to GPU in a node       NVLink, the shorter way round the ring; without NVLink PCIe, below the switch
//                              where they share one
//   node to node               from memory to memory through the network (topology.h)
//   storage to memory          the node's own storage, else the shared one and the node's way to it, which
//                              does not compete with what nodes send each other
//   feed                       decoded samples from the node's memory to its GPUs, all of them together
//
// Bandwidth that is 0 is no error until something must pass there. A device reaches itself, and the
// processors of a node each other, at no cost. Owned by one simulation.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/topology.h"
#include "spec/cluster.h"

namespace tandem::sim {

using DeviceId = std::uint32_t;

enum class LinkClass : std::uint8_t { pcie, nvlink, network, storage, feed };
inline constexpr std::size_t kLinkClasses = 5;
const char* name(LinkClass);

struct Device {
  std::uint32_t node = 0;
  std::uint32_t place = 0;  // among the GPUs of its node, or among its processors
  const spec::DeviceType* type = nullptr;
  HostId host = 0;
};

struct Path {
  std::vector<LinkId> links{};
  double latency = 0;
  std::array<bool, kLinkClasses> crosses{};
};

class Devices {
 public:
  // Throws UserError for names that are not there, no nodes, a network that does not fit the nodes.
  Devices(Engine&, spec::Cluster);
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  const spec::Cluster& cluster() const { return cluster_; }
  const std::vector<Device>& all() const { return devices_; }
  std::size_t nodes() const { return nodes_.size(); }
  const spec::NodeType& node_type(std::size_t node) const { return *nodes_[node].type; }
  // The devices of a node are those from first(node) to first(node + 1).
  DeviceId first(std::size_t node) const;
  std::optional<DeviceId> processor(std::size_t node) const;  // its first that is no GPU

  // Throw UserError where there is no way, or a bandwidth of 0. Valid as long as this object.
  const Path& path(DeviceId from, DeviceId to);
  const Path& reading(DeviceId) const;                              // from storage
  const Path* feeding(DeviceId) const;                              // nullptr: never the limit
  double capacity(LinkId link) const { return capacities_[link]; }  // bytes a second, of a link of ours
  // Links of the network between nodes: two a cable, one a direction, neighbours in this list.
  std::span<const LinkId> network_links() const;

 private:
  static constexpr LinkId kNoLink = ~LinkId{0};
  struct Duplex {
    LinkId up = kNoLink, down = kNoLink;  // up: away from the GPU, or to the next one in the ring
  };
  struct Node {
    const spec::NodeType* type = nullptr;
    DeviceId first = 0;
    std::uint32_t gpus = 0, processors = 0;
    std::vector<Duplex> ports{};    // a GPU each
    std::vector<Duplex> uplinks{};  // empty: a GPU's own lanes are its uplink
    std::vector<Duplex> ring{};
    Path reading{}, feeding{};  // without links: none
  };

  LinkId lay(Engine&, double bytes_a_second);
  Duplex lay_duplex(Engine&, double bytes_a_second);
  void add_node(Engine&, const spec::NodeType&);
  void add_ways(Engine&, Node&);
  void add_storage(Engine&);
  void add_network(Engine&);
  Path find(DeviceId from, DeviceId to) const;
  void cross(Path&, LinkId, LinkClass, const Node&) const;
  void leave(Path&, const Device&) const;
  void enter(Path&, const Device&) const;
  void within(Path&, const Device& from, const Device& to) const;
  void around(Path&, const Node&, std::uint32_t from, std::uint32_t to) const;

  spec::Cluster cluster_;
  std::vector<Device> devices_;
  std::vector<Node> nodes_;
  std::optional<Topology> network_;
  std::vector<double> capacities_;  // by link
  std::map<std::pair<DeviceId, DeviceId>, Path> paths_;
};

}  // namespace tandem::sim
