#include "place/placement_reason.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace tandem::place {
namespace {

PlacementReason reason_of(const PlacedBy& by, const TaskView& task,
                          std::span<const std::uint32_t> allowed) {
  PlacementReason out;
  for (const auto type : allowed) out.possible += static_cast<std::int32_t>(by.cluster.types[type].count);
  out.waiting = static_cast<std::int32_t>(by.view.waiting.size());
  out.waited = by.view.now - task.requested_at;
  return out;
}

PlacementCandidate candidate_of(const PlacedBy& by, const TaskView& task, std::uint32_t type) {
  const auto expected = by.experience.expect(by.view, task, by.cluster, type);
  PlacementCandidate out;
  out.node = by.cluster.nodes[type].front();
  out.seconds = expected.seconds;
  out.joules = expected.joules;
  out.within = expected.within;
  out.from = static_cast<std::int32_t>(expected.from);
  return out;
}

// The best few, and whichever was chosen.
template <class Add>
void keep_few(std::size_t count, std::size_t chosen, const Add& add) {
  const std::size_t few = std::min(count, PlacementReason::kKept);
  for (std::size_t i = 0; i < few; ++i) add(i + 1 == few && chosen >= few && chosen < count ? chosen : i);
}

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
    out.why = why(HeatsScore{0, c.score, c.energy_part, c.score - c.energy_part, {c.seconds, c.joules}});
  return out;
}

std::string where_of(const View& view, const TaskView& task) {
  std::vector<std::string> names;
  task.each_node([&](NodeId node) { names.push_back(view.nodes[static_cast<std::size_t>(node)].name); });
  return join(names, ", ");
}

}  // namespace

PlacementReason placement_reason(const PlacedBy& by, TaskId id, const TaskWish& wish,
                                 std::span<const std::uint32_t> ranked, std::uint32_t chosen) {
  const auto& task = by.view.tasks[static_cast<std::size_t>(id)];
  std::vector<std::uint32_t> all(by.cluster.types.size());
  for (std::uint32_t type = 0; type < all.size(); ++type) all[type] = type;
  const auto allowed = by.ranking.allowed(wish, all);
  auto out = reason_of(by, task, allowed);
  // Weighers rank only the types that have room.
  std::vector<std::uint32_t> order(ranked.begin(), ranked.end());
  for (const auto type : allowed)
    if (std::find(ranked.begin(), ranked.end(), type) == ranked.end()) order.push_back(type);
  const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), chosen) - order.begin());
  keep_few(order.size(), at, [&](std::size_t i) {
    auto c = candidate_of(by, task, order[i]);
    const auto scored = by.ranking.last_score(order[i]);
    c.score = scored.score;
    c.energy_part = scored.energy_part;
    c.room = order[i] == chosen || by.ranking.has_room(wish, by.cluster.pools[order[i]], order[i]);
    out.best.push_back(std::move(c));
  });
  out.chosen = by.cluster.nodes[chosen].front();
  return out;
}

PlacementReason placement_reason(const PlacedBy& by, TaskId id, const TaskWish& wish,
                                 std::span<const Judgement> judged, std::span<const NodeId> nodes,
                                 NodeId chosen) {
  const auto& task = by.view.tasks[static_cast<std::size_t>(id)];
  auto out = reason_of(by, task, {});
  out.possible = static_cast<std::int32_t>(nodes.size());
  const auto at = static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), chosen) - nodes.begin());
  keep_few(nodes.size(), at, [&](std::size_t i) {
    const auto [type, index] = by.cluster.place[static_cast<std::size_t>(nodes[i])];
    auto c = candidate_of(by, task, type);
    const Amount free = by.cluster.pools[type].free_on(index);
    c.node = nodes[i];
    c.score = judged[i].score;
    c.room = free.milli_cores >= wish.part.milli_cores && free.memory >= wish.part.memory &&
             free.gpus >= wish.part.gpus;
    if (!judged[i].why.empty()) c.why = fmt::format("{}: {}", name(judged[i].standing), judged[i].why);
    out.best.push_back(std::move(c));
  });
  out.chosen = chosen;
  return out;
}

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
  out.verdict = fmt::format("it was put on {} when this was so: {} node{} possible, it had waited {}, and {} other{} waited",
                            where, reason.possible, reason.possible == 1 ? " was" : "s were",
                            text(reason.waited), std::max(0, reason.waiting - 1),
                            reason.waiting == 2 ? "" : "s");
  return out;
}

}  // namespace tandem::place
