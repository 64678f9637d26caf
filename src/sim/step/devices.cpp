#include "sim/step/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace tandem::sim {
namespace {

bool usable_bandwidth(double bytes_a_second) {
  return bytes_a_second > 0 && std::isfinite(bytes_a_second);
}

template <class Entry>
const Entry& named(const std::vector<Entry>& entries, const std::string& wanted, const std::string& what) {
  std::vector<std::string> known;
  for (const auto& entry : entries) {
    if (entry.name == wanted) return entry;
    known.push_back(entry.name);
  }
  throw UserError(
      fmt::format("{} '{}' is not described{}", what, printable(wanted, 80), did_you_mean(wanted, known)));
}

std::size_t count_of(int number, const std::string& what) {
  if (number < 0) throw UserError(fmt::format("{} must not be negative, but is {}", what, number));
  return static_cast<std::size_t>(number);
}

std::vector<std::size_t> torus_sizes(const spec::NetworkSpec& network, std::size_t nodes) {
  std::vector<std::size_t> sizes;
  for (const int size : network.sizes) sizes.push_back(count_of(size, "a size of the torus"));
  const auto places = std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>());
  if (places != nodes)
    throw UserError(fmt::format("the torus has room for {} nodes, but the cluster has {}: change its sizes",
                                places, nodes));
  return sizes;
}

std::vector<Topology::Edge> edges_of(const spec::NetworkSpec& network) {
  std::vector<Topology::Edge> edges;
  for (const auto& cable : network.cables)
    edges.push_back({count_of(cable.from, "an end of a cable"), count_of(cable.to, "an end of a cable"),
                     Cable{cable.bandwidth, cable.latency}});
  return edges;
}

}  // namespace

const char* name(LinkClass link) {
  switch (link) {
    case LinkClass::pcie:
      return "pcie";
    case LinkClass::nvlink:
      return "nvlink";
    case LinkClass::network:
      return "network";
    case LinkClass::storage:
      return "storage";
    case LinkClass::feed:
      return "feed";
  }
  return "?";
}

Devices::Devices(Engine& engine, spec::Cluster cluster) : cluster_(std::move(cluster)) {
  for (const auto& group : cluster_.nodes) {
    const spec::NodeType& type = named(cluster_.types, group.type, "node type");
    for (int i = 0; i < group.count; ++i) add_node(engine, type);
  }
  if (devices_.empty())
    throw UserError(fmt::format("cluster '{}' has no devices: give it nodes", printable(cluster_.name, 80)));
  add_storage(engine);
  if (nodes_.size() > 1) add_network(engine);
}

LinkId Devices::lay(Engine& engine, double bytes_a_second) {
  if (!usable_bandwidth(bytes_a_second)) return kNoLink;
  const LinkId link = engine.add_link(bytes_a_second);
  if (link >= capacities_.size()) capacities_.resize(link + std::size_t{1}, 0);
  capacities_[link] = bytes_a_second;
  return link;
}

Devices::Duplex Devices::lay_duplex(Engine& engine, double bytes_a_second) {
  const LinkId up = lay(engine, bytes_a_second), down = lay(engine, bytes_a_second);
  return {up, down};
}

void Devices::add_node(Engine& engine, const spec::NodeType& type) {
  Node node;
  node.type = &type;
  node.first = static_cast<DeviceId>(devices_.size());
  for (const auto& part : type.devices) {
    const spec::DeviceType& device = named(cluster_.devices, part.device, "device");
    for (int i = 0; i < part.count; ++i) {
      const std::uint32_t place = device.gpu ? node.gpus++ : node.processors++;
      devices_.push_back({static_cast<std::uint32_t>(nodes_.size()), place, &device, engine.add_host(1, 1)});
    }
  }
  add_ways(engine, node);
  nodes_.push_back(std::move(node));
}

void Devices::add_ways(Engine& engine, Node& node) {
  const auto shared = static_cast<std::uint32_t>(std::max(node.type->gpus_an_uplink, 1));
  for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu) {
    node.ports.push_back(lay_duplex(engine, node.type->pcie));
    if (shared > 1 && gpu % shared == 0) node.uplinks.push_back(lay_duplex(engine, node.type->pcie));
  }
  if (usable_bandwidth(node.type->nvlink) && node.gpus > 1) {
    const std::uint32_t cables = node.gpus == 2 ? 1 : node.gpus;  // two have one cable between them
    for (std::uint32_t i = 0; i < cables; ++i) node.ring.push_back(lay_duplex(engine, node.type->nvlink));
  }
  if (usable_bandwidth(node.type->feed))
    cross(node.feeding, lay(engine, node.type->feed), LinkClass::feed, node);
}

void Devices::add_storage(Engine& engine) {
  const LinkId all = lay(engine, cluster_.shared_storage);
  for (Node& node : nodes_) {
    if (usable_bandwidth(node.type->storage)) {
      cross(node.reading, lay(engine, node.type->storage), LinkClass::storage, node);
    } else if (all != kNoLink) {
      cross(node.reading, all, LinkClass::storage, node);
      if (usable_bandwidth(cluster_.network.bandwidth))
        cross(node.reading, lay(engine, cluster_.network.bandwidth), LinkClass::storage, node);
    }
  }
}

void Devices::add_network(Engine& engine) {
  const spec::NetworkSpec& spec = cluster_.network;
  const Cable cable{spec.bandwidth, spec.latency};
  const bool cables = spec.kind == "cables";
  if (!cables && !usable_bandwidth(spec.bandwidth)) return;
  if (cables)
    network_ =
        Topology::arbitrary(engine, nodes_.size(), count_of(spec.switches, "switches"), edges_of(spec));
  else if (spec.kind == "star")
    network_ = Topology::star(engine, nodes_.size(), cable);
  else if (spec.kind == "fat-tree")
    network_ = Topology::fat_tree(engine, nodes_.size(), count_of(spec.nodes_a_leaf, "nodes_a_leaf"), cable,
                                  Cable{spec.uplink, spec.latency});
  else if (spec.kind == "torus")
    network_ = Topology::torus(engine, torus_sizes(spec, nodes_.size()), cable);
  else
    throw UserError(fmt::format("network '{}' is not known: it is star, fat-tree, torus or cables",
                                printable(spec.kind, 80)));
  // In the order in which a topology lays them: two a cable; those of a fat tree's leaves come last.
  const auto& links = network_->links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i] >= capacities_.size()) capacities_.resize(links[i] + std::size_t{1}, 0);
    const bool leaf = spec.kind == "fat-tree" && i >= 2 * nodes_.size();
    capacities_[links[i]] = cables ? spec.cables[i / 2].bandwidth : leaf ? spec.uplink : spec.bandwidth;
  }
}

std::span<const LinkId> Devices::network_links() const {
  if (!network_) return {};
  return network_->links();
}

DeviceId Devices::first(std::size_t node) const {
  return node < nodes_.size() ? nodes_[node].first : static_cast<DeviceId>(devices_.size());
}

std::optional<DeviceId> Devices::processor(std::size_t node) const {
  for (DeviceId device = first(node); device < first(node + 1); ++device)
    if (!devices_[device].type->gpu) return device;
  return std::nullopt;
}

const Path& Devices::path(DeviceId from, DeviceId to) {
  const auto found = paths_.find({from, to});
  if (found != paths_.end()) return found->second;
  return paths_.emplace(std::pair(from, to), find(from, to)).first->second;
}

const Path& Devices::reading(DeviceId device) const {
  const Node& node = nodes_[devices_[device].node];
  if (node.reading.links.empty())
    throw UserError(
        fmt::format("samples are read, but node type '{}' has no storage: give it storage, or the "
                    "cluster shared_storage",
                    printable(node.type->name, 80)));
  return node.reading;
}

const Path* Devices::feeding(DeviceId device) const {
  const Path& feeding = nodes_[devices_[device].node].feeding;
  return feeding.links.empty() ? nullptr : &feeding;
}

Path Devices::find(DeviceId from, DeviceId to) const {
  Path path;
  if (from == to) return path;
  const Device &a = devices_[from], &b = devices_[to];
  if (a.node == b.node) {
    within(path, a, b);
    return path;
  }
  if (!network_)
    throw UserError(
        fmt::format("node {} must send to node {}, but the network of cluster '{}' has no bandwidth", a.node,
                    b.node, printable(cluster_.name, 80)));
  leave(path, a);
  const Route& route = network_->route(a.node, b.node);
  path.links.insert(path.links.end(), route.links.begin(), route.links.end());
  path.latency += route.latency;
  path.crosses[static_cast<std::size_t>(LinkClass::network)] = true;
  enter(path, b);
  return path;
}

void Devices::cross(Path& path, LinkId link, LinkClass kind, const Node& node) const {
  if (link == kNoLink)
    throw UserError(fmt::format("something must pass the {} of node type '{}', but its bandwidth is 0",
                                name(kind), printable(node.type->name, 80)));
  path.links.push_back(link);
  path.crosses[static_cast<std::size_t>(kind)] = true;
}

void Devices::leave(Path& path, const Device& device) const {
  if (!device.type->gpu) return;
  const Node& node = nodes_[device.node];
  cross(path, node.ports[device.place].up, LinkClass::pcie, node);
  if (node.uplinks.empty()) return;
  const auto shared = static_cast<std::uint32_t>(node.type->gpus_an_uplink);
  cross(path, node.uplinks[device.place / shared].up, LinkClass::pcie, node);
}

void Devices::enter(Path& path, const Device& device) const {
  if (!device.type->gpu) return;
  const Node& node = nodes_[device.node];
  if (!node.uplinks.empty()) {
    const auto shared = static_cast<std::uint32_t>(node.type->gpus_an_uplink);
    cross(path, node.uplinks[device.place / shared].down, LinkClass::pcie, node);
  }
  cross(path, node.ports[device.place].down, LinkClass::pcie, node);
}

void Devices::within(Path& path, const Device& from, const Device& to) const {
  const Node& node = nodes_[from.node];
  const bool both = from.type->gpu && to.type->gpu;
  if (both && !node.ring.empty()) return around(path, node, from.place, to.place);
  const auto shared = static_cast<std::uint32_t>(std::max(node.type->gpus_an_uplink, 1));
  if (both && from.place / shared == to.place / shared) {
    cross(path, node.ports[from.place].up, LinkClass::pcie, node);
    cross(path, node.ports[to.place].down, LinkClass::pcie, node);
    return;
  }
  leave(path, from);
  enter(path, to);
}

void Devices::around(Path& path, const Node& node, std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t all = node.gpus;
  if (all == 2) return cross(path, from == 0 ? node.ring[0].up : node.ring[0].down, LinkClass::nvlink, node);
  const std::uint32_t up = (to + all - from) % all;
  if (up <= all - up) {
    for (std::uint32_t i = 0; i < up; ++i)
      cross(path, node.ring[(from + i) % all].up, LinkClass::nvlink, node);
  } else {
    for (std::uint32_t i = 1; i <= all - up; ++i)
      cross(path, node.ring[(from + all - i) % all].down, LinkClass::nvlink, node);
  }
}

}  // namespace tandem::sim
