#include "control/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tandem::control {
namespace {

const Resources kNothing{.cores = 0};

Resources held(const Holding& holding) {
  Resources out = holding.any() ? holding.granted : kNothing;
  if (holding.lent) out.cores = 0;
  return out;
}

// Who shares a GPU takes a part of its memory, which is counted where GPUs are told apart.
int whole_gpus(const Resources& resources) {
  return resources.gpu_memory == 0 ? resources.gpus : 0;
}

}  // namespace

void Ledger::set_node(NodeId id, std::string name, const Resources& capacity) {
  while (!knows(id)) {
    const auto next = static_cast<NodeId>(nodes_.size());
    nodes_.push_back({.capacity = kNothing, .free = kNothing, .memory_of = next});
  }
  Node& node = at(id);
  node.free.cores += capacity.cores - node.capacity.cores;
  node.free.memory += capacity.memory - node.capacity.memory;
  node.free.gpus += capacity.gpus - node.capacity.gpus;
  node.name = std::move(name);
  node.capacity = capacity;
}

void Ledger::share_memory(NodeId of, NodeId with) {
  at(with).memory_of = of;
}

std::string Ledger::why_not(const std::vector<NodeId>& nodes, const Resources& before,
                            const Resources& now) const {
  for (const NodeId id : nodes) {
    if (!knows(id)) return fmt::format("there is no node {} here", id);
    if (std::count(nodes.begin(), nodes.end(), id) > 1)
      return fmt::format("{} is named twice: a gang has one process a node", at(id).name);
    const auto on_same_memory = std::count_if(nodes.begin(), nodes.end(), [&](NodeId other) {
      return knows(other) && at(other).memory_of == at(id).memory_of;
    });
    const Bytes memory = (now.memory - before.memory) * static_cast<Bytes>(on_same_memory);
    if (now.cores - before.cores > free_cores(id) || memory > free_memory(id) ||
        whole_gpus(now) - whole_gpus(before) > free_gpus(id))
      return fmt::format("{} asked for, but only {} cores, {} and {} GPUs{} are free on {}", text(now),
                         free_cores(id), text_bytes(free_memory(id)), free_gpus(id),
                         before == kNothing ? "" : " more", at(id).name);
  }
  return "";
}

void Ledger::replace(const Holding& holding, const Resources& before, const Resources& now) {
  for (const NodeId id : holding.nodes) {
    at(id).free.cores += before.cores - now.cores;
    at(at(id).memory_of).free.memory += before.memory - now.memory;
    at(id).free.gpus += whole_gpus(before) - whole_gpus(now);
  }
}

std::string Ledger::start(Holding& holding, std::vector<NodeId> nodes, const Resources& granted) {
  if (granted.cores < 1) return "a task has one core at least";
  if (std::string why = why_not(nodes, kNothing, granted); !why.empty()) return why;
  holding = {std::move(nodes), granted, false};
  replace(holding, kNothing, granted);
  return "";
}

std::string Ledger::resize(Holding& holding, const Resources& granted) {
  if (granted.cores < 1) return "a task has one core at least";
  const Resources before = held(holding);
  if (std::string why = why_not(holding.nodes, before, granted); !why.empty()) return why;
  replace(holding, before, granted);
  holding.granted = granted;
  holding.lent = false;
  return "";
}

void Ledger::lend_cores(Holding& holding) {
  const Resources before = held(holding);
  holding.lent = true;
  replace(holding, before, held(holding));
}

void Ledger::undo(Holding& holding, const Holding& before) {
  replace(holding, held(holding), held(before));
  holding = before;
}

void Ledger::end(Holding& holding) {
  replace(holding, held(holding), kNothing);
  holding = {};
}

}  // namespace tandem::control
