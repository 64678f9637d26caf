#include "spec/sim_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "spec/checks.h"
#include "spec/into.h"

namespace tandem::spec {
namespace {

using Problems = std::vector<Problem>;

void add_below(const std::vector<std::string>& above, Problems found, Problems& out) {
  for (auto& problem : found) {
    problem.at.insert(problem.at.begin(), above.begin(), above.end());
    out.push_back(std::move(problem));
  }
}

std::string step(std::size_t i) {
  return fmt::format("[{}]", i);
}

// For a name that nothing has; nothing where there is no name at all to choose from: that is said elsewhere.
template <class Entry>
std::string unknown(const std::string& name, const std::vector<Entry>& entries, const char* what) {
  if (entries.empty() || find(entries, name) != nullptr) return "";
  const auto known = names(entries);
  return fmt::format("{} is not one of the cluster's {}: {}{}", quote(name), what, join(known),
                     did_you_mean(name, known));
}

template <class Powered>
void check_power(const Powered& what, std::vector<std::string> at, Problems& out) {
  if (what.idle_watts <= what.max_watts) return;
  out.push_back(
      {std::move(at), fmt::format("idle comes first and is at most the full power, but {} is above {}",
                                  text(Watts{what.idle_watts}), text(Watts{what.max_watts}))});
}

void check_device(const DeviceType& device, Problems& out) {
  check_power(device, {"devices", device.name, "power"}, out);
  for (const double clock : device.clocks)
    if (clock >= device.clock && device.clock > 0)
      out.push_back({{"devices", device.name, "clocks"},
                     fmt::format("must be below the full clock, but {} is not below {}",
                                 text_frequency(clock), text_frequency(device.clock)),
                     {"clock"}});
}

// A key that only one kind of network has, or none but one.
void check_sim_place(bool given, const char* key, const std::string& kind, bool fits, const char* wanted,
                     Problems& out) {
  if (given && !fits)
    out.push_back(
        {{"network", key}, fmt::format("is for kind: {} only, not for {}", wanted, kind), {"kind"}});
}

void need(bool given, const char* key, const std::string& why, Problems& out) {
  if (!given) out.push_back({{"network", key}, why, {"kind"}});
}

void check_sizes(const NetworkSpec& network, int nodes, Problems& out) {
  std::int64_t product = 1;
  for (const int size : network.sizes) {
    product *= size;
    if (product > nodes) break;
  }
  if (!network.sizes.empty() && product != nodes)
    out.push_back({{"network", "sizes"},
                   fmt::format("multiplied must give the {} nodes of the cluster, but give {}", nodes,
                               product > nodes ? "more" : std::to_string(product)),
                   {"kind"}});
}

void check_cables(const NetworkSpec& network, int nodes, Problems& out) {
  const std::int64_t points = std::int64_t{nodes} + network.switches;
  for (std::size_t i = 0; i < network.cables.size(); ++i) {
    const auto& cable = network.cables[i];
    for (const auto& [key, end] : {std::pair("from", cable.from), std::pair("to", cable.to)})
      if (end < 0 || end >= points)
        out.push_back({{"network", "cables", step(i), key},
                       fmt::format("there is no {}: {} nodes and {} switches make 0 to {}", end, nodes,
                                   network.switches, points - 1)});
    if (cable.from == cable.to)
      out.push_back({{"network", "cables", step(i), "to"}, "a cable leads somewhere else", {"from"}});
  }
}

void check_network(const NetworkSpec& network, int nodes, Problems& out) {
  const auto& kind = network.kind;
  const bool tree = kind == "fat-tree", torus = kind == "torus", cables = kind == "cables";
  check_sim_place(network.nodes_a_leaf != 0, "nodes_a_leaf", kind, tree, "fat-tree", out);
  check_sim_place(network.uplink != 0, "uplink", kind, tree, "fat-tree", out);
  check_sim_place(!network.sizes.empty(), "sizes", kind, torus, "torus", out);
  check_sim_place(network.switches != 0, "switches", kind, cables, "cables", out);
  check_sim_place(!network.cables.empty(), "cables", kind, cables, "cables", out);
  check_sim_place(network.bandwidth != 0, "bandwidth", kind, !cables, "star, fat-tree or torus", out);
  check_sim_place(network.latency != 0, "latency", kind, !cables, "star, fat-tree or torus", out);
  if (nodes > 1 && !cables)
    need(network.bandwidth > 0, "bandwidth",
         fmt::format("is needed to connect {} nodes, such as 12GB/s", nodes), out);
  if (nodes > 1 && cables) need(!network.cables.empty(), "cables", "are needed to connect the nodes", out);
  if (tree) need(network.nodes_a_leaf > 0, "nodes_a_leaf", "is needed with kind: fat-tree", out);
  if (tree) need(network.uplink > 0, "uplink", "is needed with kind: fat-tree, such as 48GB/s", out);
  if (torus) need(!network.sizes.empty(), "sizes", "are needed with kind: torus, such as [4, 4]", out);
  if (torus) check_sizes(network, nodes, out);
  if (cables) check_cables(network, nodes, out);
}

bool can_read(const DeviceType& device, const Cluster& cluster) {
  if (cluster.shared_storage > 0) return true;
  for (const auto& group : cluster.nodes) {
    const auto* type = find(cluster.types, group.type);
    if (type == nullptr || type->storage <= 0) continue;
    for (const auto& part : type->devices)
      if (part.device == device.name) return true;
  }
  return false;
}

bool plain_text(const std::string& words) {
  return printable(words) == words && words.find_first_of("\n\t") == std::string::npos;
}

// Something at, around or inside `path` is among the issues.
bool reported(const std::vector<Issue>& issues, const std::string& path) {
  const auto within = [](const std::string& inner, const std::string& outer) {
    return !outer.empty() && inner.starts_with(outer) &&
           (inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[');
  };
  for (const auto& issue : issues)
    if (within(issue.path, path) || within(path, issue.path)) return true;
  return false;
}

// What is written at the path, or the nearest thing around it.
const Node& nearest_node(const Node& root, const std::vector<std::string>& at) {
  const Node* node = &root;
  for (const auto& key : at) {
    const Node* next = nullptr;
    if (!key.starts_with('['))
      next = node->find(key);
    else if (const std::size_t i = std::stoul(key.substr(1)); i < node->items.size())
      next = &node->items[i];
    if (next == nullptr) break;
    node = next;
  }
  return *node;
}

}  // namespace

std::vector<Problem> problems(const Cluster& cluster) {
  Problems out;
  for (const auto& device : cluster.devices) check_device(device, out);
  check_power(cluster.network, {"network", "power"}, out);
  for (const auto& type : cluster.types)
    for (const auto& part : type.devices)
      if (const auto message = unknown(part.device, cluster.devices, "devices"); !message.empty())
        out.push_back({{"node_types", type.name, "devices", part.device}, message});
  for (const auto& group : cluster.nodes)
    if (const auto message = unknown(group.type, cluster.types, "node types"); !message.empty())
      out.push_back({{"nodes", group.type}, message});
  if (const int nodes = cluster.node_count(); nodes > 0) check_network(cluster.network, nodes, out);
  return out;
}

std::vector<Problem> problems(const Workload& workload) {
  Problems out;
  const bool model = !workload.model.empty(), file = !workload.model_file.empty();
  const bool iterations = workload.iterations > 0, epochs = workload.epochs > 0;
  if (model == file)
    out.push_back({{"model"},
                   model ? "give either model or model_file, not both"
                         : "say what is trained: model: NAME or model_file: FILE",
                   {"model_file"}});
  if (!plain_text(workload.model_file))
    out.push_back({{"model_file"}, "a file name here has no control characters"});
  if (iterations == epochs)
    out.push_back({{"iterations"},
                   iterations ? "give either iterations or epochs, not both"
                              : "say how long it trains: iterations: N, or epochs: N with samples: N",
                   {"epochs"}});
  if (epochs && workload.samples == 0)
    out.push_back({{"samples"}, "are needed with epochs: how many the dataset has"});
  return out;
}

std::vector<Problem> problems(const Workload& workload, const Cluster& cluster) {
  if (const auto message = unknown(workload.device, cluster.devices, "devices");
      !workload.device.empty() && !message.empty())
    return {Problem{{"device"}, message}};
  const DeviceType* device = computes_on(workload, cluster);
  if (device == nullptr) return {};
  Problems out;
  const std::int64_t there = cluster.device_count(device->name);
  if (workload.workers > there)
    out.push_back({{"workers"},
                   fmt::format("{} are more than there are devices: cluster {} has {} of {}",
                               workload.workers, quote(cluster.name), there, device->name),
                   {"device"}});
  if (workload.threads > 0 && device->gpu)
    out.push_back(
        {{"threads"},
         fmt::format("is for processors; {} is a GPU, whose cores compute all together", device->name),
         {"device"}});
  else if (workload.threads > device->cores)
    out.push_back(
        {{"threads"},
         fmt::format("{} are more than the {} cores of {}", workload.threads, device->cores, device->name),
         {"device"}});
  if (workload.clock > 0 && workload.clock != device->clock &&
      std::find(device->clocks.begin(), device->clocks.end(), workload.clock) == device->clocks.end()) {
    std::vector<std::string> steps;
    for (const double clock : device->clocks) steps.push_back(text_frequency(clock));
    steps.push_back(text_frequency(device->clock));
    out.push_back({{"clock"},
                   fmt::format("{} cannot run at {}, only at {}", device->name,
                               text_frequency(workload.clock), join(steps)),
                   {"device"}});
  }
  if (workload.sample_bytes > 0 && !can_read(*device, cluster))
    out.push_back({{"sample_bytes"},
                   "samples are read from storage, but the cluster has none for these workers: give "
                   "cluster.storage.shared, or storage in a node type, or leave sample_bytes out"});
  return out;
}

std::vector<Problem> problems(const SimJob& job) {
  Problems out;
  add_below({"cluster"}, problems(job.cluster), out);
  std::map<std::string, std::size_t> taken;
  for (std::size_t i = 0; i < job.workloads.size(); ++i) {
    const auto& workload = job.workloads[i];
    const std::vector<std::string> here{"workloads", step(i)};
    add_below(here, problems(workload), out);
    add_below(here, problems(workload, job.cluster), out);
    const auto [first, fresh] = taken.emplace(workload.name, i);
    if (!fresh && !workload.name.empty())
      add_below(here, {Problem{{"name"}, fmt::format("is that of workloads[{}] already", first->second)}},
                out);
  }
  return out;
}

std::string path_text(const std::vector<std::string>& at) {
  std::string out;
  for (const auto& key : at) out = key.starts_with('[') ? out + key : join_path(out, key);
  return out;
}

void report(const std::vector<Problem>& found, const Node& root, Issues& issues) {
  const auto before = issues.in_order();
  for (const auto& problem : found) {
    const Node& node = nearest_node(root, problem.at);
    const std::string path = path_text(problem.at);
    bool known = node.kind == Node::Kind::broken || reported(before, path);
    for (const auto& key : problem.also) {
      auto beside = problem.at;
      beside.back() = key;
      known = known || reported(before, path_text(beside));
    }
    if (!known) issues.add(node.at, path, problem.message);
  }
}

}  // namespace tandem::spec
