// The nodes of a view as a policy sees them: machine types, and what is free on the nodes of each.
//
// Nodes of the same type, size and traits are one machine type, numbered by their first node. A node that is
// down belongs to the type it was of and has no room. Made of a view, as it is needed; the live scheduler
// keeps one in step (live.h). Pure; values.
#pragma once

#include <cstdint>
#include <vector>

#include "event/view.h"
#include "place/engine/nodes.h"
#include "place/policy/kit.h"

namespace tandem::place {

struct Cluster {
  struct Place {
    std::uint32_t type = 0, index = 0;  // in the type's pool
  };
  std::vector<MachineType> types{};
  std::vector<NodeTraits> traits{};  // by type
  struct Kind {
    std::string type{};
    Resources largest{};
  };
  std::vector<Kind> kinds{};                 // by type: what makes a node one of it, beside its traits
  std::vector<std::vector<NodeId>> nodes{};  // by type: those of its pool
  std::vector<Place> place{};                // by node
  std::vector<Pool> pools{};                 // by type

  bool add(const NodeView&);             // the next one; true: its type is new
  bool is_still(const NodeView&) const;  // of the type it was
  void give_back(const TaskView&);       // what the task holds now, on all its nodes
  bool take_again(const TaskView&);      // false where some node has no room for it
  std::uint32_t type_of(const TaskView& task) const {
    return place[static_cast<std::size_t>(task.node)].type;
  }
  std::vector<Share> shares_of(const TaskView&) const;  // its nodes in the pool of their type
};

Cluster cluster_of(const View&);
Cluster empty_cluster_of(const View&);  // as if nothing ran and every node were up

// It came to its end in its first attempt: how long that took says something of its kind.
bool ran_whole(const JobView&, const TaskView&);

Amount amount_of(const Resources&);
Amount held_by(const TaskView&);  // on each of its nodes; of GPUs those that are its own
// What a task that waits asks for: the thriftiest of its options where it has several.
Resources wanted_of(const TaskView&);
// The least of everything that any of its options asks for: where there is less, none of them has room.
Resources least_of(const TaskView&);
// `asked`: on each of its nodes.
TaskRequirements requirements_of(const View&, const TaskView&, const Resources& asked);
TaskRequirements requirements_of(const View&, const TaskView&);

}  // namespace tandem::place
