// Who makes room for whom.
#include <algorithm>

#include "place/engine/engine.h"

namespace tandem::place {

// The held under every policy, then those of lower priority where the policy preempts. One whose node is down
// makes no room by going; nor does one on whose nodes not even a part would fit once all were gone.
std::vector<std::uint32_t> Engine::may_go_for(std::uint32_t task, std::uint32_t type, const Amount& part,
                                              const Pool* cleared) const {
  std::vector<std::uint32_t> out;
  const auto add = [&](const GoesKey& key) {
    const auto number = static_cast<std::uint32_t>(-key.task);
    const auto& places = tasks_[number].holding.places;
    const auto is_up = [&](const Placed& place) { return pools_[place.type].is_up(place.share.node); };
    const auto helps = [&](const Placed& place) {
      return !cleared || (place.type == type && cleared->fits_on(place.share.node, part));
    };
    if (std::any_of(places.begin(), places.end(), helps) && std::all_of(places.begin(), places.end(), is_up))
      out.push_back(number);
  };
  if (const auto found = held_.find(type); found != held_.end())
    for (const auto& key : found->second) add(key);
  if (const auto found = lower_.find(type); found != lower_.end())
    for (const auto& key : found->second) {
      if (key.priority >= tasks_[task].priority) break;
      add(key);
    }
  return out;
}

bool Engine::any_may_go_for(std::uint32_t task, std::uint32_t type) const {
  if (held_.contains(type)) return true;
  const auto found = lower_.find(type);
  return found != lower_.end() && found->second.begin()->priority < tasks_[task].priority;
}

// What will be free once those that are being stopped are gone. Copied once, then kept in step.
void Engine::look_ahead() {
  if (looked_ahead_) return;
  looked_ahead_ = true;
  if (!soon_) {
    soon_ = pools_;
    for (const auto& [node, tasks] : stopping_on_) soon_stale_.insert(node);
  }
  for (const auto& node : std::exchange(soon_stale_, {})) {
    auto state = pools_[node.first].state_of(node.second);
    if (const auto found = stopping_on_.find(node); found != stopping_on_.end())
      for (const auto task : found->second)
        for (const auto& [type, share] : tasks_[task].holding.places)
          if (NodeKey{type, share.node} == node) state.give_back(tasks_[task].holding.part, share);
    (*soon_)[node.first].set_state(node.second, state);
    soon_changed(node);
  }
}

// What will be free on a node of `soon_` if those of lower priority, and the held, go too.
void Engine::clear(Pool& pool, const NodeKey& node, int priority) {
  auto state = (*soon_)[node.first].state_of(node.second);
  if (const auto found = may_go_on_.find(node); found != may_go_on_.end())
    for (const auto task : found->second) {
      const Holding& h = tasks_[task].holding;
      if (h.standing != Standing::held && h.priority >= priority) continue;
      for (const auto& [type, share] : h.places)
        if (NodeKey{type, share.node} == node) state.give_back(h.part, share);
    }
  pool.set_state(node.second, state);
}

// The nodes of a type if all were gone who may go for a task of this priority, or some more. Null: that is not
// kept, as too many priorities were asked for.
Pool* Engine::cleared_for(int priority, std::uint32_t type) {
  for (const auto& node : std::exchange(cleared_stale_, {}))
    for (auto& [below, pools] : cleared_) clear(pools[node.first], node, below);
  auto found = cleared_.lower_bound(priority);
  if ((found == cleared_.end() || found->first != priority) && cleared_.size() < most_cleared_) {
    found = cleared_.emplace_hint(found, priority, *soon_);
    for (const auto& [node, tasks] : may_go_on_) clear(found->second[node.first], node, priority);
  }
  return found == cleared_.end() ? nullptr : &found->second[type];
}

bool Engine::make_room(std::uint32_t task) {
  look_ahead();
  const Shape& shape = shapes_[lines_[tasks_[task].line].shape];
  const TaskRequirements& needs = *shape.needs;
  goes_for_ = host_.ranked(task);
  // Those with room that others have been promised, as they rank; then those without, as they are named.
  if (!policy_.heats)
    std::erase_if(goes_for_, [&](std::uint32_t type) {
      const auto rule = host_.where(task, type);
      return needs.apart ? !pools_[type].has_room_apart(needs.part, needs.parts, rule.keep)
                         : !pools_[type].room(needs.part, rule).has_value();
    });
  for (const auto type : shape.types)
    if (std::find(goes_for_.begin(), goes_for_.end(), type) == goes_for_.end()) goes_for_.push_back(type);
  std::vector<Share> taken;
  for (const auto type : goes_for_) {  // room is on its way
    if (!(*soon_)[type].take(needs.part, needs.parts, taken, host_.where(task, type))) continue;
    for (const auto& share : taken) soon_stale_.insert({type, share.node}), soon_changed({type, share.node});
    return true;
  }
  return std::any_of(goes_for_.begin(), goes_for_.end(),
                     [&](std::uint32_t type) { return make_room_on(task, type); });
}

// Room that was taken now, and is nobody else's soon.
bool Engine::claims(std::uint32_t type, const Amount& part, std::span<const Share> taken) {
  if (!looked_ahead_) return true;
  for (const auto& share : taken) soon_changed({type, share.node});
  return (*soon_)[type].take_there(part, taken);
}

bool Engine::make_room_on(std::uint32_t task, std::uint32_t type) {
  if (!any_may_go_for(task, type)) return false;
  const TaskRequirements& needs = *shapes_[lines_[tasks_[task].line].shape].needs;
  const Where rule = host_.where(task, type);
  std::vector<Share> taken;
  Pool* cleared = cleared_for(tasks_[task].priority, type);
  if (cleared && !cleared->take(needs.part, needs.parts, taken, rule)) return false;  // it would be in vain
  if (cleared)
    for (const auto& share : taken) cleared->give_back(needs.part, share);
  taken.clear();

  const auto may_go = may_go_for(task, type, needs.part, cleared);
  Pool& soon = (*soon_)[type];
  const auto shares_of = [&](std::uint32_t other) {
    std::vector<Share> out;
    for (const auto& place : tasks_[other].holding.places)
      if (place.type == type) out.push_back(place.share);
    return out;
  };
  std::map<std::uint32_t, Pool::NodeState> before;
  std::size_t gone = 0;
  bool room = false;
  while (!room && gone < may_go.size()) {
    const auto other = may_go[gone++];
    for (const auto& share : shares_of(other)) {
      if (!before.contains(share.node)) before.emplace(share.node, soon.state_of(share.node));
      soon.give_back(tasks_[other].holding.part, share);
    }
    room = soon.take(needs.part, needs.parts, taken, rule);
  }
  restore_all_but(type, taken, before);
  // Whoever still has room where it was stays.
  for (std::size_t i = gone; room && i-- > 0;) {
    const auto other = may_go[i];
    const auto& part = tasks_[other].holding.part;
    auto shares = shares_of(other);
    const auto elsewhere = std::stable_partition(shares.begin(), shares.end(), [&](const Share& share) {
      return std::any_of(taken.begin(), taken.end(), [&](const Share& its) { return its.node == share.node; });
    });
    if (soon.take_there(part, {shares.begin(), elsewhere})) continue;
    for (auto share = elsewhere; share != shares.end(); ++share) soon.give_back(part, *share);
    const bool was_held = tasks_[other].holding.standing == Standing::held;
    unindex(other);
    tasks_[other].holding.standing = Standing::stopping;
    index(other);
    host_.stop(other, {task, was_held});
  }
  return room;
}

// Nodes of `soon_` as they were, but for those on which somebody has taken room, which are looked at again.
void Engine::restore_all_but(std::uint32_t type, std::span<const Share> taken,
                             std::map<std::uint32_t, Pool::NodeState>& before) {
  for (const auto& share : taken) {
    before.erase(share.node);
    soon_stale_.insert({type, share.node});
    soon_changed({type, share.node});
  }
  for (const auto& [node, state] : before) (*soon_)[type].set_state(node, state);
}

}  // namespace tandem::place
