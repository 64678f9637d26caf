// What of each node is granted to whom, and what is free: the one set of books a world keeps.
//
// Its rules are those of the View (event/view.cpp), so that what policies believe to be free is granted: a
// Start takes its part of each of its nodes or nothing at all; a Resize replaces one grant by another; a held
// task lends its cores and keeps memory and GPUs; the end of an attempt gives everything back. GPUs count
// where a task has them whole: who gets which, and who shares one, is the GPU allocator's business.
//
// A node may change while tasks are on it (Slurm takes one away): what is free may then be less than nothing,
// and comes back as tasks end. Pure; one owner, one thread. Invariant: on every node, what is free and what
// all holdings have together is its capacity.
#pragma once

#include <string>
#include <vector>

#include "base/resources.h"
#include "event/ids.h"

namespace tandem::control {

// What one attempt has, on each of its nodes. Only a Ledger changes it.
struct Holding {
  std::vector<NodeId> nodes{};  // by rank; none: it has nothing
  Resources granted{};
  bool lent = false;  // it is held: its cores are free for others
  bool any() const { return !nodes.empty(); }
};

class Ledger {
 public:
  // A node joined, changed, or is away (no capacity).
  void set_node(NodeId, std::string name, const Resources& capacity);
  // These two have one memory between them: the first one's.
  void share_memory(NodeId of, NodeId with);

  // Each says why not, in words, and then nothing has changed; "" when it is done.
  std::string start(Holding&, std::vector<NodeId> nodes, const Resources& granted);
  std::string resize(Holding&, const Resources& granted);
  void lend_cores(Holding&);
  void undo(Holding&, const Holding& before);  // what could not be carried out: as it was
  void end(Holding&);
  // Takes nothing from anybody.
  static void set_gpus(Holding& holding, Watts power, double clock) {
    holding.granted.gpu_power = power, holding.granted.gpu_clock = clock;
  }

  bool knows(NodeId node) const { return node >= 0 && static_cast<std::size_t>(node) < nodes_.size(); }
  int free_cores(NodeId node) const { return at(node).free.cores; }
  Bytes free_memory(NodeId node) const { return at(at(node).memory_of).free.memory; }
  int free_gpus(NodeId node) const { return at(node).free.gpus; }

 private:
  struct Node {
    std::string name{};
    Resources capacity{}, free{};
    NodeId memory_of = 0;  // whose memory it uses
  };
  const Node& at(NodeId node) const { return nodes_[static_cast<std::size_t>(node)]; }
  Node& at(NodeId node) { return nodes_[static_cast<std::size_t>(node)]; }
  std::string why_not(const std::vector<NodeId>& nodes, const Resources& before, const Resources& now) const;
  void replace(const Holding&, const Resources& before, const Resources& now);
  std::vector<Node> nodes_;
};

}  // namespace tandem::control
