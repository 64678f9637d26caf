// Who may pass the first that finds no room: nobody who delays it.
#include <algorithm>
#include <limits>
#include <optional>

#include "place/engine/engine.h"

namespace tandem::place {

void Engine::note_ends(std::uint32_t task, bool there) {
  const Holding& h = tasks_[task].holding;
  for (const auto& [type, share] : h.places) {
    if (type >= ends_.size()) ends_.resize(type + std::size_t{1});
    auto& [running, beginning, overdue] = ends_[type];
    auto& among = h.beginning ? beginning : running;
    if (there)
      among.insert({h.ends, task});
    else if (among.erase({h.ends, task}) == 0)
      overdue.erase(task);
  }
}

// Those that hold something of the type, until `visit` says that this is enough.
template <class Visit>
void Engine::each_end(std::uint32_t type, Visit visit) {
  if (type >= ends_.size()) return;
  auto& [running, beginning, overdue] = ends_[type];
  while (!running.empty() && running.begin()->first <= now_) {  // it should have ended
    overdue.insert(running.begin()->second);
    running.erase(running.begin());
  }
  auto late = overdue.begin();
  auto runs = running.begin(), begins = beginning.begin();
  const Ends none{std::numeric_limits<double>::infinity(), std::numeric_limits<std::uint32_t>::max()};
  for (;;) {
    const Ends a = late != overdue.end() ? Ends{0, *late} : none;
    const Ends b = runs != running.end() ? Ends{runs->first - now_, runs->second} : none;
    const Ends c = begins != beginning.end() ? *begins : none;
    const Ends next = std::min({a, b, c});
    if (next == none || !visit(next)) return;
    if (next == a)
      ++late;
    else if (next == b)
      ++runs;
    else
      ++begins;
  }
}

// When the first without room can start at the latest if those that run end as expected, and what is free
// beside it then. It starts on one type, so each is looked at alone, no further than the best so far.
void Engine::reserve() {
  reserved_ = true;
  const Shape& shape = shapes_[lines_[tasks_[*reserved_for_].line].shape];
  // A single part has room nowhere now: only a node that somebody leaves can have it.
  const bool by_node = shape.needs->parts == 1 && !gpus_are_shared_ && !looked_ahead_;
  std::optional<Reserved> best;
  for (const auto type : shape.types)
    if (by_node)
      reserve_one(shape, type, best);
    else
      reserve_parts(shape, type, best);
  reserved_in_ = best ? best->after.first : std::numeric_limits<double>::infinity();
  look_at_then(best, shape);
}

void Engine::reserve_one(const Shape& shape, std::uint32_t type, std::optional<Reserved>& best) {
  const Pool& pool = pools_[type];
  if (type >= later_.size()) later_.resize(type + std::size_t{1});
  auto& nodes = later_[type];
  if (nodes.size() < pool.size()) nodes.resize(pool.size());
  ++searches_;
  each_end(type, [&](const Ends& ends) {
    if (best && !(ends < best->after)) return false;
    const Holding& h = tasks_[ends.second].holding;
    std::optional<std::uint32_t> found;
    for (const auto& [on, share] : h.places) {
      if (on != type) continue;
      auto& [search, free] = nodes[share.node];
      if (std::exchange(search, searches_) != searches_) free = pool.free_on(share.node);
      free.milli_cores += h.part.milli_cores * share.parts;
      free.memory += h.part.memory * share.parts;
      free.gpus += h.part.gpus * static_cast<std::int32_t>(share.parts);
      if (free.milli_cores >= shape.part.milli_cores && free.memory >= shape.part.memory &&
          free.gpus >= shape.part.gpus && pool.is_up(share.node))
        found = std::min(found.value_or(share.node), share.node);
    }
    if (!found || h.places.front().type != type) return true;
    best = Reserved{ends, type, {Share{*found, 1, 0}}};
    return false;
  });
}

void Engine::reserve_parts(const Shape& shape, std::uint32_t type, std::optional<Reserved>& best) {
  Pool& pool = pools_[type];
  std::map<std::uint32_t, Pool::NodeState> before;
  std::vector<Share> taken;
  each_end(type, [&](const Ends& ends) {
    if (best && !(ends < best->after)) return false;
    const Holding& h = tasks_[ends.second].holding;
    for (const auto& [on, share] : h.places) {
      if (on != type || h.part == Amount{}) continue;
      before.try_emplace(share.node, pool.state_of(share.node));
      pool.give_back(h.part, share);
    }
    if (h.places.front().type != type ||
        !pool.take(shape.part, shape.needs->parts, taken, {.apart = shape.needs->apart}))
      return true;
    best = Reserved{ends, type, taken};
    for (const auto& share : taken) pool.give_back(shape.part, share);
    return false;
  });
  for (const auto& [node, state] : before) pool.set_state(node, state);
}

// Nodes as they will be then. Where no GPUs are shared, the places kept for the first are enough: elsewhere
// there is then all that is free now, and more. Which GPU has a share free depends on who leaves it.
void Engine::look_at_then(const std::optional<Reserved>& best, const Shape& shape) {
  const auto is_kept = [&](std::uint32_t type, std::uint32_t node) {
    return best && type == best->type &&
           std::any_of(best->shares.begin(), best->shares.end(),
                       [&](const Share& s) { return s.node == node; });
  };
  const auto leave = [&](std::uint32_t type) {
    each_end(type, [&](const Ends& ends) {
      if (best && best->after < ends) return false;
      const Holding& h = tasks_[ends.second].holding;
      for (const auto& [on, share] : h.places)
        if (on == type && (gpus_are_shared_ || is_kept(type, share.node)))
          then_on(type, share.node).give_back(h.part, share);
      return true;
    });
  };
  if (gpus_are_shared_)
    for (std::uint32_t type = 0; type < pools_.size(); ++type) leave(type);
  else if (best)
    leave(best->type);
  if (!best) return;
  for (const auto& share : best->shares) then_on(best->type, share.node).take(shape.part, share);
}

Pool::NodeState& Engine::then_on(std::uint32_t type, std::uint32_t node) {
  const auto found = then_.find({type, node});
  return found != then_.end() ? found->second
                              : then_.emplace(NodeKey{type, node}, pools_[type].state_of(node)).first->second;
}

// Where GPUs are shared, what is offered has been taken in the pools.
bool Engine::may_pass(std::uint32_t task, std::uint32_t type, std::span<const Share> offered) {
  const Amount& part = shapes_[lines_[tasks_[task].line].shape].part;
  if (gpus_are_shared_)
    for (const auto& share : offered)
      if (!then_.contains({type, share.node})) {
        auto& state = then_on(type, share.node);
        for (const auto& other : offered)
          if (other.node == share.node) state.give_back(part, other);
      }
  const auto lasts = host_.lasts(task, type, offered);
  if (lasts.known && lasts.seconds <= reserved_in_) return true;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const auto found = then_.find({type, offered[i].node});
    if (found == then_.end() || found->second.take(part, offered[i])) continue;
    while (i-- > 0)
      if (const auto taken = then_.find({type, offered[i].node}); taken != then_.end())
        taken->second.give_back(part, offered[i]);
    return false;
  }
  return true;
}

}  // namespace tandem::place
