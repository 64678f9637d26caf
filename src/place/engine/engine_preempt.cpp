// Who makes room for whom.
#include <algorithm>

#include "place/engine/engine.h"

namespace tandem::place {

// The held under every policy, then those of lower priority where the policy preempts. One whose node is down
// makes no room by going.
std::vector<std::uint32_t> Engine::may_go_for(std::uint32_t task, std::uint32_t type) const {
  std::vector<std::uint32_t> out;
  const auto add = [&](const GoesKey& key) {
    const auto number = static_cast<std::uint32_t>(-key.task);
    const auto& places = tasks_[number].holding.places;
    const auto is_up = [&](const Placed& place) { return pools_[place.type].is_up(place.share.node); };
    if (std::all_of(places.begin(), places.end(), is_up)) out.push_back(number);
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
  }
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
    for (const auto& share : taken) soon_stale_.insert({type, share.node});
    return true;
  }
  return std::any_of(goes_for_.begin(), goes_for_.end(),
                     [&](std::uint32_t type) { return make_room_on(task, type); });
}

// Room that was taken now, and is nobody else's soon.
bool Engine::claims(std::uint32_t type, const Amount& part, std::span<const Share> taken) {
  return !looked_ahead_ || (*soon_)[type].take_there(part, taken);
}

bool Engine::make_room_on(std::uint32_t task, std::uint32_t type) {
  const TaskRequirements& needs = *shapes_[lines_[tasks_[task].line].shape].needs;
  const auto may_go = may_go_for(task, type);
  Pool& soon = (*soon_)[type];
  const auto shares_of = [&](std::uint32_t other) {
    std::vector<Share> out;
    for (const auto& place : tasks_[other].holding.places)
      if (place.type == type) out.push_back(place.share);
    return out;
  };
  std::vector<Share> taken;
  std::size_t gone = 0;
  bool room = false;
  while (!room && gone < may_go.size()) {
    const auto other = may_go[gone++];
    for (const auto& share : shares_of(other)) soon.give_back(tasks_[other].holding.part, share);
    room = soon.take(needs.part, needs.parts, taken, host_.where(task, type));
  }
  for (const auto& share : taken) soon_stale_.insert({type, share.node});
  // Whoever still has room where it was stays; that is everyone where it was all in vain.
  for (std::size_t i = gone; i-- > 0;) {
    const auto other = may_go[i];
    const auto shares = shares_of(other);
    for (const auto& share : shares) soon_stale_.insert({type, share.node});
    if (soon.take_there(tasks_[other].holding.part, shares)) continue;
    const bool was_held = tasks_[other].holding.standing == Standing::held;
    unindex(other);
    tasks_[other].holding.standing = Standing::stopping;
    index(other);
    host_.stop(other, {task, was_held});
  }
  return room;
}

}  // namespace tandem::place
