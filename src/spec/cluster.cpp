#include "spec/cluster.h"

#include "spec/checks.h"

namespace tandem::spec {

int Cluster::node_count() const {
  int count = 0;
  for (const auto& group : nodes) count += group.count;
  return count;
}

std::int64_t Cluster::device_count(const std::string& which) const {
  std::int64_t count = 0;
  for (const auto& group : nodes) {
    const auto* type = find(types, group.type);
    if (type == nullptr) continue;
    for (const auto& part : type->devices)
      if (part.device == which) count += std::int64_t{group.count} * part.count;
  }
  return count;
}

const DeviceType* Cluster::device(const std::string& which) const {
  return find(devices, which);
}

const DeviceType* computes_on(const Workload& workload, const Cluster& cluster) {
  if (!workload.device.empty()) return cluster.device(workload.device);
  const DeviceType* first = nullptr;
  for (const auto& device : cluster.devices) {
    if (cluster.device_count(device.name) == 0) continue;
    if (device.gpu) return &device;
    if (first == nullptr) first = &device;
  }
  return first;
}

const std::vector<ChoiceEntry>& network_kinds() {
  static const std::vector<ChoiceEntry> kinds{
      {"star", "every node has one cable to a switch that is never the bottleneck"},
      {"fat-tree", "leaf switches with some nodes each, and a way up to a spine from every leaf"},
      {"torus", "a grid with cables to both neighbours in every dimension, closed to rings"},
      {"cables", "any cables between nodes and switches"}};
  return kinds;
}

}  // namespace tandem::spec
