// HEATS' rescheduling: who would be better off elsewhere, the move included.
#include "place/engine/engine.h"

namespace tandem::place {

std::optional<Engine::Move> Engine::better_place_for(std::uint32_t task, const TaskRequirements& needs,
                                                     const MoveFacts& facts,
                                                     std::span<const HeatsScore> scores, Ranking& ranking,
                                                     bool* settled) {
  const auto here_type = tasks_[task].holding.places.front().type;
  std::vector<HeatsOption> better;
  Prediction here{};
  bool none_better = true;
  for (const auto& scored : scores) {
    if (scored.type == here_type) {
      here = scored.predicted;
      break;
    }
    none_better = false;
    if (!ranking.has_room(needs, pools_[scored.type], scored.type)) continue;
    better.push_back({scored.type, scored.predicted});
    better.back().predicted.seconds *= facts.redo, better.back().predicted.joules *= facts.redo;
  }
  if (settled) *settled = none_better;
  if (better.empty() || !(here.seconds > 0)) return std::nullopt;
  const auto to = better_place(facts.options, facts.h, facts.left, here, better);
  Move move;
  if (!to || !pools_[*to].take(needs.part, needs.parts, move.shares, ranking.where(*to, needs.apart)))
    return std::nullopt;
  move.type = *to;
  return move;
}

}  // namespace tandem::place
