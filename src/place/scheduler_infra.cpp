// Infrastructure-aware placement: the node is chosen by what was observed of it, not by its machine type.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "place/scheduler_round.h"

namespace tandem::place {

std::vector<Judgement> Round::judged(TaskId id) {
  if (!catalogue_) {
    catalogue_ = catalogue_of(view_, cluster_);
    for (const auto& node : view_.nodes) hosts_[node.name] = node.id;
  }
  return judge_nodes(*catalogue_, classes_, demands_of(view_, task(id)), view_.now, policy_.infra->pick);
}

bool Round::place_by_infra(TaskId id, const TaskWish& wish) {
  const auto types = ranking(id).allowed(wish, all_types_);
  const auto nodes = judged(id);
  std::map<std::uint32_t, std::vector<Share>> taken;  // by type: a gang is on nodes of one
  bool started = false;
  for (const std::size_t place : admitted(nodes, policy_.infra->pick.readmit)) {
    const auto [type, index] = cluster_.place[static_cast<std::size_t>(node_called(nodes[place].host))];
    const Share here{index, 1, 0};
    if (std::find(types.begin(), types.end(), type) == types.end() ||
        !cluster_.pools[type].take_there(wish.part, {&here, 1}))
      continue;
    taken[type].push_back(here);
    if (static_cast<std::int64_t>(taken[type].size()) < wish.parts) continue;
    start(id, {type, taken[type]});
    for (const Share& share : taken[type])
      put_there(*catalogue_, cluster_,
                view_.nodes[static_cast<std::size_t>(cluster_.nodes[type][share.node])],
                demands_of(view_, task(id)));
    taken.erase(type);
    started = true;
    break;
  }
  for (const auto& [type, shares] : taken)
    for (const Share& share : shares) cluster_.pools[type].give_back(wish.part, share);
  return started;
}

PlacementReason Round::infra_reason(const PlacedBy& by, TaskId id, const TaskWish& wish, NodeId chosen) {
  const auto types = ranking(id).allowed(wish, all_types_);
  const auto nodes = judged(id);
  std::vector<Judgement> tried;
  std::vector<NodeId> numbers;
  for (const std::size_t place : admitted(nodes, policy_.infra->pick.readmit)) {
    const NodeId node = node_called(nodes[place].host);
    const auto type = cluster_.place[static_cast<std::size_t>(node)].type;
    if (std::find(types.begin(), types.end(), type) == types.end()) continue;
    tried.push_back(nodes[place]);
    numbers.push_back(node);
  }
  return placement_reason(by, id, wish, tried, numbers, chosen);
}

// Types that a filter refuses, whatever was observed; of the others each node, those admitted first.
std::vector<Consideration> Round::consider_nodes(TaskId id, const TaskWish& wish) {
  const auto types = ranking(id).allowed(wish, all_types_);
  const auto nodes = judged(id);
  const auto order = admitted(nodes, policy_.infra->pick.readmit);
  bool any_fit = false;  // with room
  std::vector<Consideration> out, refused;
  const auto consider = [&](const Judgement& node, bool admissible) {
    const auto [type, index] = cluster_.place[static_cast<std::size_t>(node_called(node.host))];
    if (std::find(types.begin(), types.end(), type) == types.end()) return;
    Consideration c{.type = node.host, .nodes = 1, .up = 1, .score = node.score};
    c.expected = experience_.expect(view_, task(id), cluster_, type);
    const Share here{index, 1, 0};
    const bool room = Pool(cluster_.pools[type]).take_there(wish.part, {&here, 1});
    const std::string said = node.why.empty() ? "" : fmt::format("{}: {}", name(node.standing), node.why);
    any_fit |= room && node.standing == Standing::fit;
    c.passes = node.standing != Standing::lacks;
    c.refused = !admissible || (any_fit && !said.empty()) ? said : room ? "" : kNoRoom;
    if (c.refused == kNoRoom)
      c.why = what_is_short(wish.part, cluster_.pools[type].free_on(index), cluster_.types[type].node);
    if (c.refused.empty() && !said.empty())
      c.why = fmt::format("no node is fit, so it may be used ({})", said);
    (c.refused.empty() ? out : refused).push_back(std::move(c));
  };
  for (const std::size_t place : order) consider(nodes[place], true);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (std::find(order.begin(), order.end(), i) == order.end()) consider(nodes[i], false);
  out.insert(out.end(), refused.begin(), refused.end());
  for (auto& type : consider_types(id, wish)) {
    const auto is_it = [&](std::uint32_t t) { return cluster_.types[t].name == type.type; };
    if (type.up == 0 || std::none_of(types.begin(), types.end(), is_it)) out.push_back(std::move(type));
  }
  return out;
}

}  // namespace tandem::place
