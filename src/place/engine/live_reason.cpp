// Why a task starts where it does: taken down with the decision, as things are at that moment.
#include <fmt/format.h>

#include <algorithm>

#include "place/engine/live.h"

namespace tandem::place {
namespace {

// The first few of the order, and whichever was chosen.
std::vector<std::uint32_t> few_of(const std::vector<std::uint32_t>& order, std::uint32_t chosen) {
  std::vector<std::uint32_t> out(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                    order.size(), PlacementReason::kKept)));
  if (std::find(out.begin(), out.end(), chosen) != out.end()) return out;
  if (out.size() == PlacementReason::kKept) out.pop_back();
  out.push_back(chosen);
  return out;
}

}  // namespace

PlacementCandidate Live::candidate(TaskId id, std::uint32_t type) {
  const auto expected =
      order_is_fixed() ? line_known(id).expected[type] : experience_.expect(*view_, task(id), cluster_, type);
  PlacementCandidate out;
  out.node = cluster_.nodes[type].front();
  out.seconds = expected.seconds;
  out.joules = expected.joules;
  out.within = expected.within;
  out.from = static_cast<std::int32_t>(expected.from);
  return out;
}

PlacementReason Live::reason(TaskId id, const Placed& place) {
  const Line& line = line_of(id);
  PlacementReason out;
  out.waiting = static_cast<std::int32_t>(view_->waiting.size());
  out.waited = view_->now - task(id).requested_at;
  if (policy_.heats) out.energy_weight = order_is_fixed() ? line_known(id).h : weight(id);
  if (policy_.infra) {
    out.chosen = cluster_.nodes[place.type][place.share.node];
    out.possible = could_choose_;
    for (const auto& [node, judged] : chosen_from_) {
      const auto [type, index] = cluster_.place[static_cast<std::size_t>(node)];
      auto c = candidate(id, type);
      c.node = node;
      c.score = judged.score;
      c.room = node == out.chosen || cluster_.pools[type].fits_on(index, line.needs.part);
      if (!judged.why.empty()) c.why = fmt::format("{}: {}", name(judged.standing), judged.why);
      out.best.push_back(std::move(c));
    }
    return out;
  }
  const auto& types = engine_.types_of_line(line.number);
  for (const auto type : types) out.possible += static_cast<std::int32_t>(cluster_.types[type].count);
  // Those that were ranked; weighers rank only types that have room.
  const bool fixed = order_is_fixed();
  auto order = fixed && !job(id).base().place.deadline ? line_known(id).order : ranked_;
  for (const auto type : types)
    if (order.size() < types.size() && std::find(order.begin(), order.end(), type) == order.end())
      order.push_back(type);
  auto& ranks = fixed ? ranking_for(line_known(id).h) : ranking(id);
  for (const auto type : few_of(order, place.type)) {
    auto c = candidate(id, type);
    const auto scored = std::find_if(line.scores.begin(), line.scores.end(),
                                     [&](const HeatsScore& score) { return score.type == type; });
    const auto score = scored != line.scores.end() ? *scored
                       : order_is_fixed()          ? HeatsScore{type}
                                                   : ranks.last_score(type);
    c.score = score.score;
    c.energy_part = score.energy_part;
    c.room = type == place.type || ranks.has_room(line.needs, cluster_.pools[type], type);
    out.best.push_back(std::move(c));
  }
  out.chosen = cluster_.nodes[place.type].front();
  return out;
}

}  // namespace tandem::place
