// The Slurm world's nodes: which there are, and how they change.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "platform/plain_file.h"
#include "runtime/common/clock.h"
#include "runtime/slurm/gpus.h"
#include "runtime/slurm/world.h"

namespace tandem::slurm {
namespace {

using runtime::steady;

const Resources kAway{0, 0, 1.0};

bool is_loopback(const std::string& address) {
  return address == "localhost" || address.starts_with("127.");
}

}  // namespace

control::Capabilities SlurmWorld::capabilities() const {
  control::Capabilities out = kSlurmCapabilities;
  out.gpus = out.gang_gpus =
      std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return gpus_of(node.capacity) > 0; });
  return out;
}

std::vector<NodeJoined> SlurmWorld::nodes() {
  const auto result = commands_.run_and_wait(sinfo(), kCommandLimit);
  if (!result.well()) throw SystemError("sinfo: " + result.why());
  const auto found = parse_sinfo(result.output);
  learn_nodes(found);
  if (nodes_.empty())
    throw UserError(
        fmt::format("Slurm has no usable node{}; see `sinfo`{}",
                    options_.site.partition.empty() ? "" : " in partition " + options_.site.partition,
                    found.complaints.empty() ? "" : ": " + found.complaints.front()));
  const bool alone = std::all_of(found.nodes.begin(), found.nodes.end(),
                                 [](const SlurmNode& node) { return is_loopback(node.address); });
  links_ = std::make_unique<Links>(
      alone ? "127.0.0.1" : "0.0.0.0",
      Links::Listener{[this](const std::string& mark, const FromAgent& message) { heard(mark, message); },
                      [this](const std::string& mark) { left(mark); }});
  reachable_at_ = !options_.addresses.empty() ? options_.addresses
                  : alone                     ? std::vector<std::string>{"127.0.0.1"}
                                              : own_addresses();
  write_whole(options_.folder / "slurm/run-agent.sh", kScript);
  next_nodes_ = steady() + options_.nodes_every;
  std::vector<NodeJoined> out;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    out.push_back({static_cast<NodeId>(i), nodes_[i].name, nodes_[i].capacity, nodes_[i].type});
  return out;
}

// Those that are new or have changed. A node keeps its number over restarts of Tandem: the journal speaks of
// it. One that is away has no capacity; what runs there is told by its own life.
std::vector<NodeJoined> SlurmWorld::learn_nodes(const SlurmNodes& found) {
  const auto file = options_.folder / "slurm/nodes.json";
  if (nodes_.empty()) {
    nlohmann::json names = nlohmann::json::array();
    if (const auto known = platform::read_plain(file, 1 << 24)) names = parse_json(*known);
    if (!names.is_array())
      throw SystemError(file.string() + " is broken: it should be a list of names of nodes");
    for (const auto& known : names) nodes_.push_back({known.get<std::string>(), "", kAway});
  }
  std::vector<Node> now = nodes_;
  for (auto& node : now) node.capacity = kAway;
  for (const auto& node : found.nodes) {
    const auto& wanted = options_.site.partition;
    const bool ours = wanted.empty() || std::find(node.partitions.begin(), node.partitions.end(), wanted) !=
                                            node.partitions.end();
    if (!ours || !node.usable()) continue;
    auto at = std::find_if(now.begin(), now.end(), [&](const Node& n) { return n.name == node.name; });
    if (at == now.end()) at = now.insert(now.end(), Node{node.name, "", kAway});
    at->address = node.address;
    at->capacity = with_gpus(Resources{node.cpus, node.memory, 1.0}, gpus_in(node.gres));
    at->type = fmt::format("{}, {} cpus{}", node.architecture.empty() ? "unknown" : node.architecture,
                           node.cpus, node.gres.empty() ? "" : ", " + node.gres);
  }
  std::vector<NodeJoined> changed;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Resources before = i < nodes_.size() ? nodes_[i].capacity : kAway;
    Node& node = now[i];
    ledger_.set_node(static_cast<NodeId>(i), node.name, node.capacity);
    if (i >= nodes_.size() || !(node.capacity == before))
      changed.push_back({static_cast<NodeId>(i), node.name, node.capacity, node.type});
  }
  nodes_ = std::move(now);
  nlohmann::json names = nlohmann::json::array();
  for (const auto& node : nodes_) names.push_back(node.name);
  if (!changed.empty()) write_whole(file, names.dump() + "\n");
  return changed;
}

void SlurmWorld::ask_nodes() {
  if (nodes_asked_ || !links_ || steady() < next_nodes_) return;
  nodes_asked_ = true;
  commands_.run(sinfo(), kCommandLimit, [this](const CommandResult& result) {
    nodes_asked_ = false;
    next_nodes_ = steady() + options_.nodes_every;
    if (!result.well()) return;  // no answer is no news
    try {
      for (auto& node : learn_nodes(parse_sinfo(result.output))) happened(std::move(node));
    } catch (const SystemError&) {  // nor is one that the controller's absence made
    }
  });
}

}  // namespace tandem::slurm
