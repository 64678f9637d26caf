#include "place/engine/engine.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace tandem::place {

bool operator==(const Placed& a, const Placed& b) {
  return a.type == b.type && a.share.node == b.share.node && a.share.parts == b.share.parts &&
         a.share.gpu == b.share.gpu;
}

Engine::Engine(const Policy& policy, std::vector<Pool>& pools, EngineHost& host, std::size_t most_cleared)
    : policy_(policy), pools_(pools), host_(host), most_cleared_(most_cleared) {}

std::uint32_t Engine::add_shape(const TaskRequirements& needs, std::vector<std::uint32_t> types) {
  const auto number = static_cast<std::uint32_t>(shapes_.size());
  Shape& shape = shapes_.emplace_back();
  shape.needs = &needs, shape.part = needs.part, shape.types = std::move(types);
  shape.room.assign(pools_.size(), Shape::not_allowed);
  shapes_of_type_.resize(std::max(shapes_of_type_.size(), pools_.size()));
  for (const auto type : shape.types) {
    shape.room[type] = Shape::maybe;
    shapes_of_type_[type].push_back(number);
  }
  gpus_are_shared_ = gpus_are_shared_ || needs.part.gpu_share > 0;
  return number;
}

std::uint32_t Engine::add_line(std::uint32_t shape) {
  lines_.push_back({shape, {}});
  return static_cast<std::uint32_t>(lines_.size() - 1);
}

void Engine::reset() {
  forget_lines();
  tasks_.clear(), kept_.clear(), stopping_on_.clear(), held_.clear(), lower_.clear(), ends_.clear();
  on_node_.clear(), changed_.clear(), may_go_on_.clear();
  waiting_ = stopping_ = 0;
}

void Engine::forget_lines() {
  shapes_.clear(), shapes_of_type_.clear(), lines_.clear(), heads_.clear(), open_.clear();
  soon_.reset(), soon_stale_.clear(), cleared_.clear(), cleared_stale_.clear();  // there may be more nodes now
}

// ---- who waits ----

void Engine::open(std::uint32_t shape) {
  shapes_[shape].open = true;
  if (!std::exchange(shapes_[shape].listed, true)) open_.push_back(shape);
}

void Engine::open_anywhere(std::uint32_t shape) {
  for (const auto type : shapes_[shape].types) shapes_[shape].room[type] = Shape::maybe;
  open(shape);
}

void Engine::open_all() {
  for (std::uint32_t shape = 0; shape < shapes_.size(); ++shape)
    if (!shapes_[shape].heads.empty() && !shapes_[shape].open) open_anywhere(shape);
}

void Engine::close(Shape& shape) {
  for (const auto type : shape.types) shape.room[type] = Shape::none;
  shape.open = false;
}

void Engine::wait(std::uint32_t task, std::uint32_t line, double key, double asked, int priority) {
  Task& t = tasks_.make(task);
  const Key now{key, asked, task};
  if (t.waiting && t.line == line && t.key == now && t.priority == priority) return;
  wait_no_more(task);
  Line& l = lines_[line];
  Shape& shape = shapes_[l.shape];
  t.waiting = true, t.line = line, t.priority = priority, t.key = now;
  ++waiting_;
  if (shape.heads.empty()) open_anywhere(l.shape);
  const bool first = l.waiting.empty() || now < *l.waiting.begin();
  if (first && !l.waiting.empty()) {
    heads_.erase({*l.waiting.begin(), line});
    shape.heads.erase({*l.waiting.begin(), line});
  }
  l.waiting.insert(l.waiting.end(), now);  // mostly it is the last
  if (!first) return;
  heads_.insert({now, line});
  shape.heads.insert({now, line});
  if (policy_.preemption != Preemption::none) open(l.shape);  // room could be made for it
}

void Engine::wait_no_more(std::uint32_t task) {
  if (!waits(task)) return;
  Task& t = tasks_[task];
  Line& l = lines_[t.line];
  Shape& shape = shapes_[l.shape];
  const bool first = *l.waiting.begin() == t.key;
  l.waiting.erase(t.key);
  if (first) {
    heads_.erase({t.key, t.line});
    shape.heads.erase({t.key, t.line});
    if (!l.waiting.empty()) {
      heads_.insert({*l.waiting.begin(), t.line});
      shape.heads.insert({*l.waiting.begin(), t.line});
    }
  }
  t.waiting = false;
  --waiting_;
}

// ---- who holds what ----

void Engine::changed(std::uint32_t type, std::uint32_t node) {
  if (soon_) soon_stale_.insert({type, node});
  if (policy_.malleable) changed_.insert({type, node});
}

// Room came free on a node: shapes that it may do for are looked at again.
void Engine::freed(std::uint32_t type, std::uint32_t node) {
  changed(type, node);
  if (policy_.malleable || type >= shapes_of_type_.size()) return;
  for (const auto number : shapes_of_type_[type]) {
    Shape& shape = shapes_[number];
    if (shape.heads.empty() || shape.may_fit(type)) continue;
    if (shape.needs->parts == 1 && !pools_[type].fits_on(node, shape.part)) continue;
    shape.room[type] = Shape::maybe;
    open(number);
  }
  // Less would have to be made for others now.
  if (const auto lowest = lower_.find(type); lowest != lower_.end())
    open_above(lowest->second.begin()->priority, type);
}

// One of lower priority could be made to go.
void Engine::open_above(int priority, std::uint32_t type) {
  if (type >= shapes_of_type_.size()) return;
  for (const auto number : shapes_of_type_[type]) {
    const auto above = [&](const Head& head) { return tasks_[head.first.task].priority > priority; };
    const auto& heads = shapes_[number].heads;
    if (!shapes_[number].open && std::any_of(heads.begin(), heads.end(), above)) open(number);
  }
}

// Who is on a node that is down still has what it has there.
bool Engine::take_up_or_down(const Amount& part, const Placed& place) {
  Pool& pool = pools_[place.type];
  const bool up = pool.is_up(place.share.node);
  if (!up) pool.set_up(place.share.node, true);
  const bool taken = pool.take_there(part, {&place.share, 1});
  if (!up) pool.set_up(place.share.node, false);
  return taken;
}

bool Engine::occupy(const Holding& holding) {
  if (holding.part == Amount{}) return true;
  bool all = true;
  for (const auto& place : holding.places) {
    all = take_up_or_down(holding.part, place) && all;
    changed(place.type, place.share.node);
  }
  return all;
}

void Engine::give_back(const Holding& holding) {
  if (holding.part == Amount{}) return;
  for (const auto& [type, share] : holding.places) pools_[type].give_back(holding.part, share);
  for (const auto& [type, share] : holding.places) freed(type, share.node);
}

void Engine::index(std::uint32_t task) {
  const Holding& h = tasks_[task].holding;
  if (h.places.empty()) return;
  const GoesKey key{h.priority, -h.begun, -std::int64_t{task}};
  if (h.standing == Standing::held) held_[h.places.front().type].insert(key);
  if (h.standing == Standing::runs && policy_.preemption != Preemption::none) {
    lower_[h.places.front().type].insert(key);
    open_above(h.priority, h.places.front().type);
  }
  if (h.standing == Standing::stopping) {
    ++stopping_;
    for (const auto& [type, share] : h.places) changed(type, share.node);
  }
  note_on_nodes(task, true);
  if (policy_.backfill) note_ends(task, true);
  if (!policy_.malleable) return;
  for (const auto& [type, share] : h.places)
    on_node_[{type, share.node}].insert(task), changed(type, share.node);
}

// Who is on which node, of those that are being stopped and of those that may have to go.
void Engine::note_on_nodes(std::uint32_t task, bool there) {
  const Holding& h = tasks_[task].holding;
  if (h.standing == Standing::runs && policy_.preemption == Preemption::none) return;
  auto& on_nodes = h.standing == Standing::stopping ? stopping_on_ : may_go_on_;
  for (const auto& [type, share] : h.places) {
    const NodeKey node{type, share.node};
    soon_changed(node);
    if (there) {
      on_nodes[node].insert(task);
      continue;
    }
    const auto found = on_nodes.find(node);
    if (found != on_nodes.end() && (found->second.erase(task), found->second.empty())) on_nodes.erase(found);
  }
}

void Engine::unindex(std::uint32_t task) {
  const Holding& h = tasks_[task].holding;
  if (h.places.empty()) return;
  const GoesKey key{h.priority, -h.begun, -std::int64_t{task}};
  const auto drop = [&](Goers& from) {
    const auto found = from.find(h.places.front().type);
    if (found == from.end()) return;
    found->second.erase(key);
    if (found->second.empty()) from.erase(found);
  };
  if (h.standing == Standing::held) drop(held_);
  if (h.standing == Standing::runs && policy_.preemption != Preemption::none) drop(lower_);
  if (h.standing == Standing::stopping) {
    --stopping_;
    for (const auto& [type, share] : h.places) changed(type, share.node);
  }
  note_on_nodes(task, false);
  if (policy_.backfill) note_ends(task, false);
  if (!policy_.malleable) return;
  for (const auto& [type, share] : h.places) {
    const auto found = on_node_.find({type, share.node});
    if (found != on_node_.end() && (found->second.erase(task), found->second.empty())) on_node_.erase(found);
    changed(type, share.node);
  }
}

const Engine::Holding* Engine::holding(std::uint32_t task) const {
  return tasks_.contains(task) && tasks_[task].holds ? &tasks_[task].holding : nullptr;
}

bool Engine::hold(std::uint32_t task, Holding holding) {
  Task& t = tasks_.make(task);
  const bool same = t.holds && t.holding.part == holding.part && t.holding.places == holding.places;
  bool all = true;
  if (t.holds) unindex(task);
  if (t.holds && !same) give_back(t.holding);
  t.holds = true;
  t.holding = std::move(holding);
  if (!same) all = occupy(t.holding);
  index(task);
  return all;
}

void Engine::release(std::uint32_t task) {
  if (!tasks_.contains(task) || !tasks_[task].holds) return;
  Task& t = tasks_[task];
  unindex(task);
  t.holds = false;
  give_back(t.holding);
  t.holding = {};
}

bool Engine::change_part(std::uint32_t task, const Amount& part) {
  Holding& h = tasks_[task].holding;
  Amount more = part;
  more.milli_cores -= h.part.milli_cores, more.memory -= h.part.memory, more.gpus -= h.part.gpus;
  for (std::size_t i = 0; i < h.places.size(); ++i) {
    if (take_up_or_down(more, h.places[i])) continue;
    while (i-- > 0) pools_[h.places[i].type].give_back(more, h.places[i].share);
    return false;
  }
  for (const auto& [type, share] : h.places) changed(type, share.node);
  h.part = part;
  return true;
}

void Engine::give_back_room(std::uint32_t type, const Amount& part, std::span<const Share> shares) {
  for (const auto& share : shares) pools_[type].give_back(part, share);
  for (const auto& share : shares) freed(type, share.node);
}

void Engine::set_up(std::uint32_t type, std::uint32_t node, bool up) {
  if (pools_[type].is_up(node) == up) return;
  pools_[type].set_up(node, up);
  freed(type, node);
}

std::string Engine::differs(const Engine& other, std::uint32_t task) const {
  if (waits(task) != other.waits(task)) return "whether it waits";
  if (waits(task) && tasks_[task].key != other.tasks_[task].key) return "its place in the queue";
  const Holding *a = holding(task), *b = other.holding(task);
  if (!a != !b) return "whether it holds anything";
  if (!a) return "";
  if (!(a->part == b->part) || a->places != b->places) return "what it holds";
  if (a->standing != b->standing || a->priority != b->priority || a->begun != b->begun)
    return "how it stands";
  return a->ends != b->ends || a->beginning != b->beginning ? "when it ends" : "";
}

// ---- a round ----

void Engine::push(const Candidate& candidate) {
  candidates_.push_back(candidate);
  std::push_heap(candidates_.begin(), candidates_.end(), std::greater<>{});
}

void Engine::push_next_of_line(std::uint32_t line, const Key& after) {
  const auto& waiting = lines_[line].waiting;
  if (const auto next = waiting.upper_bound(after); next != waiting.end()) push({*next, line, false});
}

void Engine::push_next_of_shape(std::uint32_t shape, const Key& after) {
  const auto& heads = shapes_[shape].heads;
  const auto next = heads.upper_bound({after, std::numeric_limits<std::uint32_t>::max()});
  if (next != heads.end()) push({next->first, next->second, true});
}

void Engine::serve(double now) {
  now_ = now;
  ++round_;
  looked_ahead_ = reserved_ = false;
  may_go_ = some_may_go();
  reserved_for_.reset();
  then_.clear(), held_back_.clear(), candidates_.clear();
  // Where room is on its way, or can be made, those without any have something to ask for too.
  if ((stopping_ > 0 && may_go_) || !held_.empty() || host_.chooses_nodes()) open_all();
  if (policy_.order->blocks) return serve_in_order();
  take_open_ones();
  while (!candidates_.empty()) {
    const Candidate next = candidates_.front();
    const Key& first = heads_.begin()->first;
    if (policy_.backfill && !reserved_for_ && first < next.key) reserved_for_ = first.task;  // it has no room
    std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>{});
    candidates_.pop_back();
    if (const auto outcome = place(next.key.task); outcome != Outcome::started) {
      failed(next, outcome);
      continue;
    }
    if (next.leads)
      push_next_of_shape(lines_[next.line].shape, next.key);
    else
      push_next_of_line(next.line, next.key);
    // Those with room that may not pass would be offered other nodes now.
    for (const auto line : std::exchange(held_back_, {})) push_next_of_line(line, next.key);
  }
  end_round();
}

// The first that finds no room ends the round.
void Engine::serve_in_order() {
  while (!heads_.empty() && shapes_[lines_[heads_.begin()->second].shape].open) {
    const auto [key, line] = *heads_.begin();
    if (const auto outcome = place(key.task); outcome != Outcome::started)
      return failed({key, line, false}, outcome);
  }
}

// Those to be asked first in this round: of each shape that may have room, the first.
void Engine::take_open_ones() {
  std::erase_if(open_, [&](std::uint32_t number) {
    Shape& shape = shapes_[number];
    shape.listed = shape.open = shape.open && !shape.heads.empty();
    if (shape.open) candidates_.push_back({shape.heads.begin()->first, shape.heads.begin()->second, true});
    return !shape.open;
  });
  std::make_heap(candidates_.begin(), candidates_.end(), std::greater<>{});
}

void Engine::failed(const Candidate& candidate, Outcome outcome) {
  const auto& [key, line, leads] = candidate;
  const auto shape = lines_[line].shape;
  if (may_go_ && make_room(key.task)) {
    push_next_of_line(line, key);  // it may have to ask, too
  } else if (outcome == Outcome::no_room && !host_.chooses_nodes()) {
    close(shapes_[shape]);
  } else if (reserving()) {
    held_back_.push_back(line);
  }
  // Others of its shape find no room either, but may be let pass, or have some made.
  if (leads && (may_go_ || outcome == Outcome::not_allowed)) push_next_of_shape(shape, key);
  if (policy_.backfill && !reserved_for_) reserved_for_ = key.task;
}

Engine::Outcome Engine::place(std::uint32_t task) {
  Shape& shape = shapes_[lines_[tasks_[task].line].shape];
  // One like it did not start in this round: neither will this one. Not where it depends on how long it
  // lasts.
  if (!reserving() && shape.vain_round == round_) return shape.vain;
  auto outcome = Outcome::no_room;
  if (host_.chooses_nodes()) {
    if (const auto places = host_.choose(task)) {
      begin(task, *places, false);
      return Outcome::started;
    }
  } else {
    for (const auto type : host_.ranked(task)) {
      if (!shape.may_fit(type)) continue;
      const auto here = place_on(task, shape, type);
      if (here == Outcome::started) return here;
      if (here == Outcome::no_room)
        shape.room[type] = Shape::none;
      else
        outcome = here;
    }
  }
  shape.vain_round = round_, shape.vain = outcome;
  return outcome;
}

Engine::Outcome Engine::place_on(std::uint32_t task, const Shape& shape, std::uint32_t type) {
  const TaskRequirements& needs = *shape.needs;
  Pool& pool = pools_[type];
  const Where rule = host_.where(task, type);
  if (reserving()) {
    if (!reserved_ && !pool.node_for(needs.part, rule)) return Outcome::no_room;
    if (!reserved_) reserve();
    if (needs.parts == 1 && !gpus_are_shared_ &&
        !looked_ahead_) {  // ask before it is taken: most may not pass
      const auto node = pool.node_for(needs.part, rule);
      if (!node) return Outcome::no_room;
      const Share offered{*node, 1, 0};
      if (!may_pass(task, type, {&offered, 1})) return Outcome::not_allowed;
      pool.take(needs.part, 1, taken_, rule);
      begin(task, {{type, taken_.front()}}, true);
      return Outcome::started;
    }
  }
  if (!pool.take(needs.part, needs.parts, taken_, rule)) return Outcome::no_room;
  const bool mine = claims(type, needs.part, taken_);
  if (mine && (!reserving() || may_pass(task, type, taken_))) {
    std::vector<Placed> places;
    for (const auto& share : taken_) places.push_back({type, share});
    begin(task, std::move(places), true);
    return Outcome::started;
  }
  for (const auto& share : taken_) pool.give_back(needs.part, share);
  if (mine && looked_ahead_)
    for (const auto& share : taken_) (*soon_)[type].give_back(needs.part, share);
  return Outcome::not_allowed;
}

void Engine::begin(std::uint32_t task, std::vector<Placed> places, bool taken) {
  Task& t = tasks_[task];
  wait_no_more(task);
  Holding holding{shapes_[lines_[t.line].shape].part, std::move(places), t.priority, now_};
  if (policy_.backfill) {
    std::vector<Share> shares;
    for (const auto& place : holding.places) shares.push_back(place.share);
    holding.ends = host_.lasts(task, holding.places.front().type, shares).seconds;
    holding.beginning = !host_.begins_at_once();
    if (!holding.beginning) holding.ends += now_;
  }
  t.holds = true;
  t.holding = std::move(holding);
  if (taken)
    for (const auto& [type, share] : t.holding.places) changed(type, share.node);
  else
    occupy(t.holding);
  index(task);
  host_.start(task, t.holding.places);
}

std::optional<Engine::Key> Engine::first() const {
  return heads_.empty() ? std::nullopt : std::optional(heads_.begin()->first);
}

bool Engine::start_first(double now) {
  now_ = now;
  ++round_;
  looked_ahead_ = false;
  open_anywhere(lines_[heads_.begin()->second].shape);
  return place(heads_.begin()->first.task) == Outcome::started;
}

const std::set<std::uint32_t>& Engine::on_node(const NodeKey& node) const {
  static const std::set<std::uint32_t> nobody;
  const auto found = on_node_.find(node);
  return found == on_node_.end() ? nobody : found->second;
}

std::vector<std::uint32_t> Engine::some_held(std::uint32_t type) const {
  constexpr std::size_t kMost = 64;
  std::vector<std::uint32_t> out;
  if (const auto found = held_.find(type); found != held_.end())
    for (auto key = found->second.begin(); key != found->second.end() && out.size() < kMost; ++key)
      out.push_back(static_cast<std::uint32_t>(-key->task));
  return out;
}

void Engine::keep_for_round(std::uint32_t type, const Amount& part, std::vector<Share> shares) {
  kept_.push_back({type, part, std::move(shares)});
}

void Engine::end_round() {
  for (const auto& [type, part, shares] : std::exchange(kept_, {}))
    for (const auto& share : shares) pools_[type].give_back(part, share);
}

}  // namespace tandem::place
