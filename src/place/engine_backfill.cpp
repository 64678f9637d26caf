// Who may pass the first that finds no room: nobody who delays it.
#include <algorithm>
#include <limits>
#include <optional>

#include "place/engine.h"

namespace tandem::place {

// Those nodes as they are once it is gone; true: one of them has room for the line's first, and is taken.
bool Engine::goes_from(const Holding& h, const Line& line) {
  std::optional<std::uint32_t> found;
  for (const auto& [type, share] : h.places) {
    auto& state = then_.try_emplace({type, share.node}, pools_[type].state_of(share.node)).first->second;
    state.give_back(h.part, share);
    auto taken = state;
    if (type == h.places.front().type && line.uses(type) && taken.take(line.wish->part, Share{share.node, 1, 0}))
      found = std::min(found.value_or(share.node), share.node);
  }
  if (found) reserved_node_ = NodeKey{h.places.front().type, *found};
  if (found) then_.at({h.places.front().type, *found}).take(line.wish->part, Share{*found, 1, 0});
  return found.has_value();
}

// When the first without room can start at the latest if those that run end as expected, and what is free
// beside it then. Made when somebody asks to pass, and only of the nodes it concerns.
void Engine::reserve() {
  reserved_ = true;
  reserved_at_changes_ = changes_;
  reserved_node_.reset();
  reserved_in_ = std::numeric_limits<double>::infinity();
  const Line& line = lines_[tasks_[*reserved_for_].line];
  const TaskWish& wish = *line.wish;
  while (!ends_.empty() && ends_.begin()->first <= now_) {  // it should have ended
    overdue_.insert(ends_.begin()->second);
    ends_.erase(ends_.begin());
  }
  // A single part has room nowhere now: only the node that somebody leaves can have it.
  const bool by_node = wish.parts == 1 && wish.part.gpu_share == 0 && !looked_ahead_;
  std::map<NodeKey, Pool::NodeState> before;
  std::vector<Share> taken;
  std::uint32_t taken_type = 0;
  // True: there is room once it is gone.
  const auto goes = [&](double in, std::uint32_t task) {
    const Holding& h = tasks_[task].holding;
    if (by_node) {
      if (!goes_from(h, line)) return false;
      reserved_in_ = in;
      return true;
    }
    if (!(h.part == Amount{}))
      for (const auto& [type, share] : h.places) {
        before.try_emplace({type, share.node}, pools_[type].state_of(share.node));
        pools_[type].give_back(h.part, share);
      }
    const auto type = h.places.front().type;
    if (!line.uses(type) || !pools_[type].take(wish.part, wish.parts, taken, {.apart = wish.apart}))
      return false;
    reserved_in_ = in, taken_type = type;
    return true;
  };
  auto running = ends_.begin();
  auto beginning = beginning_.begin();
  auto late = overdue_.begin();
  for (bool room = false; !room;) {
    using Next = std::pair<double, std::uint32_t>;
    const Next none{std::numeric_limits<double>::infinity(), ~std::uint32_t{0}};
    const Next a = late != overdue_.end() ? Next{0, *late} : none;
    const Next b = running != ends_.end() ? Next{running->first - now_, running->second} : none;
    const Next c = beginning != beginning_.end() ? *beginning : none;
    const Next next = std::min({a, b, c});
    if (next == none) break;
    room = goes(next.first, next.second);
    if (next == a)
      ++late;
    else if (next == b)
      ++running;
    else
      ++beginning;
  }
  if (by_node) return;
  for (const auto& [node, state] : before) then_[node] = pools_[node.first].state_of(node.second);
  if (reserved_in_ < std::numeric_limits<double>::infinity())
    for (const auto& share : taken) {
      then_[{taken_type, share.node}] = pools_[taken_type].state_of(share.node);
    }
  for (const auto& share : taken) pools_[taken_type].give_back(wish.part, share);
  for (const auto& [node, state] : before) pools_[node.first].set_state(node.second, state);
}

// The same place is kept for the same task, no later than it was when some were held back for it.
bool Engine::reserved_as_before() {
  if (!last_.valid || heads_.empty() || heads_.begin()->first.task != last_.task ||
      lines_[heads_.begin()->second].open)
    return false;
  if (changes_ == last_.changes && beginning_.empty() && (ends_.empty() || ends_.begin()->first > now_))
    return true;
  reserved_for_ = last_.task;
  reserve();
  return reserved_node_ && *reserved_node_ == last_.node && reserved_in_ <= last_.in;
}

void Engine::remember_held_back() {
  for (const auto line : lines_held_back_) lines_[line].held_back = false;
  if (reserved_)
    last_ = {*reserved_for_, reserved_node_.value_or(NodeKey{}), reserved_in_, reserved_at_changes_,
             reserved_node_.has_value()};
  lines_held_back_ = held_back_;
  for (const auto line : lines_held_back_) lines_[line].again = false;
  lines_held_back_.insert(lines_held_back_.end(), left_out_.begin(), left_out_.end());
  for (const auto line : lines_held_back_) lines_[line].held_back = true;
}

// Before somebody else has the room: as it will be then.
void Engine::note_then(std::uint32_t type, const Amount& part, std::span<const Share> taken) {
  for (const auto& share : taken) {
    const NodeKey node{type, share.node};
    if (then_.contains(node)) continue;
    auto state = pools_[type].state_of(share.node);
    for (const auto& other : taken)
      if (other.node == share.node) state.give_back(part, other);
    then_.emplace(node, std::move(state));
  }
}

bool Engine::may_pass(std::uint32_t task, std::uint32_t type, std::span<const Share> taken) {
  const auto lasts = host_.lasts(task, type, taken);
  const Amount& part = lines_[tasks_[task].line].wish->part;
  if (!reserved_) {  // as the nodes are without the one that asks
    for (const auto& share : taken) pools_[type].give_back(part, share);
    reserve();
    pools_[type].take_there(part, taken);
  }
  if (lasts && *lasts <= reserved_in_) return true;
  note_then(type, part, taken);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (then_.at({type, taken[i].node}).take(part, taken[i])) continue;
    while (i-- > 0) then_.at({type, taken[i].node}).give_back(part, taken[i]);
    return false;
  }
  return true;
}

}  // namespace tandem::place
