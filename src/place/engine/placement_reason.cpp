#include "place/engine/placement_reason.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace tandem::place {
namespace {

Consideration consideration_of(const View& view, const PlacementCandidate& c, bool one_node, bool heats) {
  Consideration out;
  const auto& node = view.nodes[static_cast<std::size_t>(c.node)];
  out.type = one_node || node.type.empty() ? node.name : node.type;
  for (const auto& other : view.nodes)
    if (one_node ? other.id == c.node : same_type(other, node))
      ++out.nodes, out.up += other.capacity.cores > 0;
  out.refused = c.room ? "" : kNoRoom;
  out.score = c.score;
  out.expected = {c.seconds, c.joules, static_cast<Expected::From>(std::clamp(c.from, 0, 3)), c.within};
  out.passes = !c.room;
  out.why = c.why;
  if (heats && c.room)
    out.why = why(HeatsScore{0, c.score, c.energy_part, c.score - c.energy_part,
                             {c.seconds, c.joules, 0, out.expected.from != Expected::From::nothing}});
  return out;
}

std::string where_of(const View& view, const TaskView& task) {
  std::vector<std::string> names;
  task.each_node([&](NodeId node) { names.push_back(view.nodes[static_cast<std::size_t>(node)].name); });
  return join(names, ", ");
}

}  // namespace

Explanation explain_placement(const View& view, const place::Policy& policy, const TaskView& task) {
  Explanation out;
  out.policy = policy.name;
  const std::string where = where_of(view, task);
  if (!task.reason) {
    out.verdict = fmt::format("it was put on {}, and no reason was kept: an older Tandem placed it", where);
    return out;
  }
  const auto& reason = *task.reason;
  out.energy_weight = reason.energy_weight;
  for (const auto& candidate : reason.best)
    out.types.push_back(
        consideration_of(view, candidate, policy.infra.has_value(), policy.heats.has_value()));
  std::stable_partition(out.types.begin(), out.types.end(), [](const auto& c) { return c.refused.empty(); });
  out.verdict = fmt::format(
      "it was put on {} when this was so: {} node{} possible, it had waited {}, and {} other{} waited", where,
      reason.possible, reason.possible == 1 ? " was" : "s were", text(reason.waited),
      std::max(0, reason.waiting - 1), reason.waiting == 2 ? "" : "s");
  return out;
}

}  // namespace tandem::place
