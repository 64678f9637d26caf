// Why a task waits, and what would be best for it now: a look at the whole cluster, made when somebody asks.
#pragma once

#include <optional>
#include <vector>

#include "place/engine/context.h"
#include "place/engine/scheduler.h"

namespace tandem::place {

class Explainer final : public PlacementContext {
 public:
  // The cluster is that of the view.
  Explainer(const place::Policy&, std::uint64_t seed, const Learnt&, const View&, const Cluster&);
  Explanation explain(TaskId);

 private:
  // Of those that wait, without a process unless the policy is malleable: in the order they are tried.
  std::vector<TaskId> in_order();
  std::vector<std::uint32_t> all_ranked(TaskId, const TaskRequirements&);
  std::vector<Consideration> consider_types(TaskId, const TaskRequirements&);
  std::vector<Consideration> consider_nodes(TaskId, const TaskRequirements&);
  std::string shortage(const TaskRequirements&, std::uint32_t type) const;
  void conclude(TaskId, Explanation&);
  void conclude_malleable(TaskId, Explanation&);
  std::optional<Seconds> expected_start(TaskId);

  static constexpr int kMostTries = 500;  // beyond, an answer would take long and say little
  bool looked_too_far_ = false;
};

}  // namespace tandem::place
