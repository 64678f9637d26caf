// The table of a cluster: written out in a simulation, or in a file of its own.
#include "spec/cluster.h"
#include "spec/field.h"
#include "spec/into.h"

namespace tandem::spec {
namespace {

constexpr double kMostTypes = 1000;
constexpr double kMostNodes = 1e6;
constexpr double kMostCables = 1e5;
constexpr double kCentury = 100 * 365 * 86400.0;

// A map from names of the user's own to what `item` says.
Field named(const char* name, const char* description, Field item, Enter enter) {
  return {.name = name,
          .type = Type::named,
          .description = description,
          .required = true,
          .least = 1,
          .most = kMostTypes,
          .pattern = kName,
          .shape = kNameShape,
          .longest = kLongestName,
          .fields = {std::move(item)},
          .enter = std::move(enter)};
}

// What is idle and what is full, in this order; of a device, or of the network.
template <class Powered>
Field power_field(const char* description) {
  return {.name = "power",
          .type = Type::list,
          .description = description,
          .otherwise = "not counted",
          .least = 2,
          .most = 2,
          .fields = {{.type = Type::watts, .least = 0, .store = into([](double& watts) -> auto& {
                                                         return watts;
                                                       })}},
          .enter = [](const Target& target, const std::string&, std::size_t index) -> Target {
            auto& powered = part<Powered>(target);
            return index == 0 ? &powered.idle_watts : &powered.max_watts;
          }};
}

std::vector<Field> device_fields() {
  return {
      {.name = "kind",
       .description = "a processor or an accelerator",
       .required = true,
       .choices = std::vector<std::string>{"cpu", "gpu"},
       .store =
           [](const Target& target, const Found& found) {
             part<DeviceType>(target).gpu = std::get<std::string>(found) == "gpu";
           }},
      {.name = "cores",
       .type = Type::whole,
       .description = "of one device",
       .required = true,
       .least = 1,
       .most = 1e7,
       .store = into([](DeviceType & device) -> auto& { return device.cores; })},
      {.name = "clock",
       .type = Type::frequency,
       .description = "full speed of a core",
       .required = true,
       .above = 0,
       .store = into([](DeviceType & device) -> auto& { return device.clock; })},
      {.name = "flops_a_cycle",
       .type = Type::real,
       .description = "operations of a core in one cycle; a multiply and an add are two",
       .fallback = "2",
       .above = 0,
       .most = 1e6,
       .store = into([](DeviceType & device) -> auto& { return device.flops_a_cycle; })},
      {.name = "efficiency",
       .type = Type::fraction,
       .description = "share of the peak that dense arithmetic reaches; measured, so it may be above 100%",
       .fallback = "100%",
       .least = 0.0001,
       .most = 10,
       .store = into([](DeviceType & device) -> auto& { return device.efficiency; })},
      {.name = "added_core",
       .type = Type::fraction,
       .description = "what each core after the first adds, as a share of the first",
       .fallback = "100%",
       .least = 0,
       .most = 1,
       .store = into([](DeviceType & device) -> auto& { return device.added_core; })},
      {.name = "overhead",
       .type = Type::seconds,
       .description = "to start an operation, forward or backward, whatever its size; such as 20us",
       .fallback = "0s",
       .least = 0,
       .most = 10,
       .store = into([](DeviceType & device) -> auto& { return device.overhead; })},
      {.name = "memory",
       .type = Type::bytes,
       .description = "of one device",
       .otherwise = "not limited",
       .above = 0,
       .store = into([](DeviceType & device) -> auto& { return device.memory; })},
      {.name = "memory_bandwidth",
       .type = Type::bandwidth,
       .description = "between its cores and its memory",
       .otherwise = "never the limit",
       .above = 0,
       .store = into([](DeviceType & device) -> auto& { return device.memory_bandwidth; })},
      power_field<DeviceType>("when idle and at full load, such as [90W, 334W]; linear in between"),
      {.name = "clocks",
       .type = Type::list,
       .description = "slower steps it can run at, such as [562MHz, 705MHz]",
       .otherwise = "full speed only",
       .least = 1,
       .most = kMostTypes,
       .fields = {{.type = Type::frequency, .above = 0, .store = into([](DeviceType & device) -> auto& {
                                                          return device.clocks;
                                                        })}}},
  };
}

std::vector<Field> node_type_fields() {
  return {
      named("devices", "how many of which device, such as {E5-2690v3: 1, K80: 1}",
            {.type = Type::whole,
             .least = 1,
             .most = 1000,
             .store = into([](NodeType::Part & devices) -> auto& { return devices.count; })},
            one_more_named(
                &NodeType::Part::device, [](NodeType & type) -> auto& { return type.devices; })),
      {.name = "pcie",
       .type = Type::bandwidth,
       .description = "of one uplink from GPUs to the host, each way",
       .fallback = "12GB/s",
       .above = 0,
       .store = into([](NodeType & type) -> auto& { return type.pcie; })},
      {.name = "gpus_an_uplink",
       .type = Type::whole,
       .description = "GPUs that share one such uplink",
       .fallback = "1",
       .least = 1,
       .most = 1000,
       .store = into([](NodeType & type) -> auto& { return type.gpus_an_uplink; })},
      {.name = "nvlink",
       .type = Type::bandwidth,
       .description = "between neighbours in a ring of the node's GPUs, each way",
       .otherwise = "none: PCIe is used",
       .above = 0,
       .store = into([](NodeType & type) -> auto& { return type.nvlink; })},
      {.name = "storage",
       .type = Type::bandwidth,
       .description = "of local storage",
       .otherwise = "none",
       .above = 0,
       .store = into([](NodeType & type) -> auto& { return type.storage; })},
      {.name = "feed",
       .type = Type::bandwidth,
       .description = "decoded samples the host can hand to its GPUs",
       .otherwise = "never the limit",
       .above = 0,
       .store = into([](NodeType & type) -> auto& { return type.feed; })},
  };
}

std::vector<Field> cable_fields() {
  const Field end{.type = Type::whole,
                  .description = "a node or a switch: nodes count from 0, switches after them",
                  .required = true,
                  .least = 0,
                  .most = 2 * kMostNodes};
  Field from = end, to = end;
  from.name = "from";
  from.store = into([](NetworkSpec::CableSpec & cable) -> auto& { return cable.from; });
  to.name = "to";
  to.store = into([](NetworkSpec::CableSpec & cable) -> auto& { return cable.to; });
  return {
      from,
      to,
      {.name = "bandwidth",
       .type = Type::bandwidth,
       .description = "each way",
       .required = true,
       .above = 0,
       .store = into([](NetworkSpec::CableSpec & cable) -> auto& { return cable.bandwidth; })},
      {.name = "latency",
       .type = Type::seconds,
       .description = "of the cable",
       .fallback = "0s",
       .least = 0,
       .most = 1000,
       .store = into([](NetworkSpec::CableSpec & cable) -> auto& { return cable.latency; })},
  };
}

std::vector<Field> network_fields() {
  return {
      {.name = "kind",
       .description = "how nodes are connected",
       .fallback = "star",
       .choices = names(network_kinds()),
       .store = into([](NetworkSpec & network) -> auto& { return network.kind; })},
      {.name = "bandwidth",
       .type = Type::bandwidth,
       .description = "of a node's cable, each way; needed where there are several nodes",
       .above = 0,
       .store = into([](NetworkSpec & network) -> auto& { return network.bandwidth; })},
      {.name = "latency",
       .type = Type::seconds,
       .description = "of a cable",
       .fallback = "0s",
       .least = 0,
       .most = 1000,
       .store = into([](NetworkSpec & network) -> auto& { return network.latency; })},
      power_field<NetworkSpec>(
          "of a cable with its ports, when idle and when full both ways, such as [2W, 5W]"),
      {.name = "nodes_a_leaf",
       .type = Type::whole,
       .description = "fat-tree: nodes on one leaf switch",
       .least = 1,
       .most = kMostNodes,
       .store = into([](NetworkSpec & network) -> auto& { return network.nodes_a_leaf; })},
      {.name = "uplink",
       .type = Type::bandwidth,
       .description = "fat-tree: a leaf's whole way up, each way",
       .above = 0,
       .store = into([](NetworkSpec & network) -> auto& { return network.uplink; })},
      {.name = "sizes",
       .type = Type::list,
       .description = "torus: nodes in every dimension, such as [4, 4, 2]",
       .least = 1,
       .most = 16,
       .fields = {{.type = Type::whole,
                   .least = 1,
                   .most = kMostNodes,
                   .store = into([](NetworkSpec & network) -> auto& { return network.sizes; })}}},
      {.name = "switches",
       .type = Type::whole,
       .description = "cables: how many there are",
       .fallback = "0",
       .least = 0,
       .most = kMostNodes,
       .store = into([](NetworkSpec & network) -> auto& { return network.switches; })},
      {.name = "cables",
       .type = Type::list,
       .description = "cables: what connects nodes and switches",
       .least = 1,
       .most = kMostCables,
       .fields = {{.type = Type::table, .fields = cable_fields()}},
       .enter = one_more([](NetworkSpec & network) -> auto& { return network.cables; })},
  };
}

std::vector<Field> failure_fields() {
  return {
      {.name = "between",
       .type = Type::seconds,
       .description = "mean time between failures of a node",
       .required = true,
       .above = 0,
       .most = kCentury,
       .store = into([](Failures & failures) -> auto& { return failures.between; })},
      {.name = "repair",
       .type = Type::seconds,
       .description = "mean time until it is back",
       .required = true,
       .least = 0,
       .most = kCentury,
       .store = into([](Failures & failures) -> auto& { return failures.repair; })},
  };
}

}  // namespace

std::vector<Field> cluster_fields() {
  return {
      {.name = "name",
       .description = "what to call the cluster",
       .fallback = "cluster",
       .pattern = kName,
       .shape = kNameShape,
       .longest = kLongestName,
       .store = into([](Cluster & cluster) -> auto& { return cluster.name; })},
      named("devices", "processors and accelerators", {.type = Type::table, .fields = device_fields()},
            one_more_named(
                &DeviceType::name, [](Cluster & cluster) -> auto& { return cluster.devices; })),
      named("node_types", "machines made of them", {.type = Type::table, .fields = node_type_fields()},
            one_more_named(
                &NodeType::name, [](Cluster & cluster) -> auto& { return cluster.types; })),
      named("nodes", "how many of which node type, such as {thin: 9}",
            {.type = Type::whole,
             .least = 1,
             .most = kMostNodes,
             .store = into([](Cluster::Group & group) -> auto& { return group.count; })},
            one_more_named(
                &Cluster::Group::type, [](Cluster & cluster) -> auto& { return cluster.nodes; })),
      {.name = "network",
       .type = Type::table,
       .description = "between nodes",
       .fields = network_fields(),
       .enter = inside([](Cluster & cluster) -> auto& { return cluster.network; })},
      {.name = "storage",
       .type = Type::table,
       .description = "beside what node types have of their own",
       .fields = {{.name = "shared",
                   .type = Type::bandwidth,
                   .description = "of a file system that all nodes share",
                   .otherwise = "none",
                   .above = 0,
                   .store = into([](Cluster & cluster) -> auto& { return cluster.shared_storage; })}}},
      {.name = "failures",
       .type = Type::table,
       .description = "of nodes; without it none fails",
       .fields = failure_fields(),
       .enter = inside([](Cluster & cluster) -> auto& { return cluster.failures.emplace(); })},
  };
}

std::vector<Field> cluster_file_fields() {
  auto fields = cluster_fields();
  fields.insert(fields.begin(), Field{.name = "kind",
                                      .description = "what this document is",
                                      .required = true,
                                      .choices = std::vector<std::string>{"cluster"}});
  return fields;
}

}  // namespace tandem::spec
