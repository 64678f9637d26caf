#include "app/sim_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace tandem::app {
namespace {

const spec::NodeType& type_called(const spec::Cluster& cluster, const std::string& name) {
  const auto found = std::find_if(cluster.types.begin(), cluster.types.end(),
                                  [&](const spec::NodeType& type) { return type.name == name; });
  assert(found != cluster.types.end());
  return *found;
}

std::string name_within(const spec::NodeType& type, sim::DeviceId place) {
  for (const auto& part : type.devices) {
    const auto count = static_cast<sim::DeviceId>(part.count);
    if (place < count) return count == 1 ? part.device : fmt::format("{}-{}", part.device, place);
    place -= count;
  }
  assert(false && "no such device");
  return "?";
}

}  // namespace

DeviceName name_of(const spec::Cluster& cluster, sim::DeviceId id) {
  sim::DeviceId nodes_before = 0;
  for (const auto& group : cluster.nodes) {
    const spec::NodeType& type = type_called(cluster, group.type);
    sim::DeviceId each = 0;
    for (const auto& part : type.devices) each += static_cast<sim::DeviceId>(part.count);
    const auto count = static_cast<sim::DeviceId>(group.count);
    if (each > 0 && id / each < count) {
      const std::string node =
          cluster.node_count() == 1 ? group.type : fmt::format("{}-{}", group.type, nodes_before + id / each);
      return {node, name_within(type, id % each)};
    }
    id -= each * count;
    nodes_before += count;
  }
  assert(false && "no such device");
  return {"?", "?"};
}

std::string span_text(const sim::Span& span, const graph::Model& model, const spec::Cluster& cluster) {
  std::string out = sim::name(span.purpose);
  if (span.operations > 0 && span.operation < model.operations.size())
    out += " " + model.operations[span.operation].name;
  if (span.operations > 1) out += fmt::format(" and {} more", span.operations - 1);
  if (sim::copies(span.purpose)) out += " to " + name_of(cluster, span.peer).full();
  return out;
}

}  // namespace tandem::app
