// Why a task was put where it is: a few numbers taken down with the decision (event/decision.h), and the
// explanation that is made of them when somebody asks. Pure.
#pragma once

#include <span>

#include "place/cluster.h"
#include "place/experience.h"
#include "place/infra_pick.h"
#include "place/policies.h"
#include "place/scheduler.h"

namespace tandem::place {

// What a task is being placed by, with the room that it gets still free.
struct PlacedBy {
  const View& view;
  const Cluster& cluster;
  const Experience& experience;
  Ranking& ranking;  // the task's, just asked
};

// `ranked`: the types in the order they were tried.
PlacementReason placement_reason(const PlacedBy&, TaskId, const TaskWish&, std::span<const std::uint32_t> ranked,
                                 std::uint32_t chosen);
// Of a policy that chooses among nodes: `judged` in the order they were tried.
PlacementReason placement_reason(const PlacedBy&, TaskId, const TaskWish&, std::span<const Judgement> judged,
                                 std::span<const NodeId> nodes, NodeId chosen);

// What was kept, told as Scheduler::explain tells it of a task that waits. How many nodes a type has is told
// of now.
Explanation explain_placement(const View&, const place::Policy&, const TaskView&);

}  // namespace tandem::place
