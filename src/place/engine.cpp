#include "place/engine.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tandem::place {

bool operator==(const Placed& a, const Placed& b) {
  return a.type == b.type && a.share.node == b.share.node && a.share.parts == b.share.parts &&
         a.share.gpu == b.share.gpu;
}

Engine::Engine(const Policy& policy, std::vector<Pool>& pools, EngineHost& host)
    : policy_(policy), pools_(pools), host_(host) {}

bool Engine::Line::uses(std::uint32_t type) const {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool Engine::Line::may_fit(std::uint32_t type) const {
  return anywhere || std::find(freed.begin(), freed.end(), type) != freed.end();
}

std::uint32_t Engine::add_line(const TaskWish& wish, std::uint32_t fit, std::vector<std::uint32_t> types) {
  Line line;
  line.wish = &wish, line.fit = fit, line.types = std::move(types);
  lines_.push_back(std::move(line));
  if (fit >= in_vain_.size()) in_vain_.resize(fit + std::size_t{1});
  return static_cast<std::uint32_t>(lines_.size() - 1);
}

void Engine::reset() {
  lines_.clear(), tasks_.clear(), heads_.clear(), busy_.clear(), open_.clear(), in_vain_.clear(), kept_.clear();
  soon_.reset(), soon_stale_.clear(), stopping_on_.clear(), held_.clear(), lower_.clear();
  ends_.clear(), beginning_.clear(), overdue_.clear(), then_.clear(), lines_held_back_.clear();
  last_ = {};
  waiting_ = stopping_ = 0;
}

// ---- who waits ----

void Engine::close(std::uint32_t line) {
  Line& l = lines_[line];
  l.open = l.anywhere = false;
  l.freed.clear();
}

void Engine::open(std::uint32_t line, bool anywhere) {
  Line& l = lines_[line];
  l.anywhere = l.anywhere || anywhere;
  l.open = true;
  if (!std::exchange(l.listed, true)) open_.push_back(line);
}

void Engine::open_all() {
  for (const auto line : busy_)
    if (!lines_[line].open) open(line, true);
}

void Engine::wait(std::uint32_t task, std::uint32_t line, double key, double asked, int priority) {
  if (task >= tasks_.size()) tasks_.resize(task + std::size_t{1});
  Task& t = tasks_[task];
  const Key now{key, asked, task};
  if (t.waiting && t.line == line && t.key == now && t.priority == priority) return;
  wait_no_more(task);
  Line& l = lines_[line];
  t.waiting = true, t.line = line, t.priority = priority, t.key = now;
  ++waiting_;
  if (l.waiting.empty()) {
    l.place = busy_.size();
    busy_.push_back(line);
    open(line, true);
  } else if (*l.waiting.begin() < now) {
    l.waiting.insert(now);
    return;
  } else {
    heads_.erase({*l.waiting.begin(), line});
  }
  l.waiting.insert(now);
  heads_.insert({now, line});
}

void Engine::wait_no_more(std::uint32_t task) {
  if (!waits(task)) return;
  Task& t = tasks_[task];
  Line& l = lines_[t.line];
  const bool first = *l.waiting.begin() == t.key;
  if (first) heads_.erase({t.key, t.line});
  l.waiting.erase(t.key);
  if (l.waiting.empty()) {
    lines_[busy_.back()].place = l.place;
    std::swap(busy_[l.place], busy_.back());
    busy_.pop_back();
  } else if (first) {
    heads_.insert({*l.waiting.begin(), t.line});
  }
  t.waiting = false;
  --waiting_;
}

// ---- who holds what ----

void Engine::changed(std::uint32_t type, std::uint32_t node) {
  if (soon_) soon_stale_.insert({type, node});
  ++changes_;
  for (const auto line : lines_held_back_) lines_[line].again = lines_[line].again || lines_[line].uses(type);
}

// Room came free on a node: lines that it may do for are looked at again.
void Engine::freed(std::uint32_t type, std::uint32_t node) {
  changed(type, node);
  const auto may_do = [&](const Line& l) {
    return l.uses(type) && (l.wish->parts > 1 || pools_[type].fits_on(node, l.wish->part));
  };
  for (const auto line : busy_)
    if (Line& l = lines_[line]; !l.may_fit(type) && may_do(l)) {
      l.freed.push_back(type);
      open(line, false);
    }
}

// One of lower priority could be made to go.
void Engine::open_above(int priority, std::uint32_t type) {
  for (const auto line : busy_)
    if (const Line& l = lines_[line];
        !l.open && tasks_[l.waiting.begin()->task].priority > priority && l.uses(type))
      open(line, false);
}

bool Engine::occupy(const Holding& holding) {
  if (holding.part == Amount{}) return true;
  bool all = true;
  for (const auto& [type, share] : holding.places) {
    const bool up = pools_[type].is_up(share.node);
    if (!up) pools_[type].set_up(share.node, true);
    all = pools_[type].take_there(holding.part, {&share, 1}) && all;
    if (!up) pools_[type].set_up(share.node, false);
    changed(type, share.node);
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
    for (const auto& [type, share] : h.places) {
      stopping_on_[{type, share.node}].insert(task);
      changed(type, share.node);
    }
  }
  if (policy_.backfill) (h.beginning ? beginning_ : ends_).insert({h.ends, task});
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
    for (const auto& [type, share] : h.places) {
      const auto found = stopping_on_.find({type, share.node});
      if (found != stopping_on_.end() && (found->second.erase(task), found->second.empty()))
        stopping_on_.erase(found);
      changed(type, share.node);
    }
  }
  if (!policy_.backfill) return;
  (h.beginning ? beginning_ : ends_).erase({h.ends, task});
  overdue_.erase(task);
}

const Engine::Holding* Engine::holding(std::uint32_t task) const {
  return task < tasks_.size() && tasks_[task].holds ? &tasks_[task].holding : nullptr;
}

bool Engine::hold(std::uint32_t task, Holding holding) {
  if (task >= tasks_.size()) tasks_.resize(task + std::size_t{1});
  Task& t = tasks_[task];
  const bool same = t.holds && t.holding.part == holding.part && t.holding.places == holding.places;
  bool all = true;
  if (t.holds && (t.holding.ends != holding.ends || t.holding.beginning != holding.beginning)) ++changes_;
  if (t.holds) unindex(task);
  if (t.holds && !same) give_back(t.holding);
  t.holds = true;
  t.holding = std::move(holding);
  if (!same) all = occupy(t.holding);
  index(task);
  return all;
}

void Engine::release(std::uint32_t task) {
  if (task >= tasks_.size() || !tasks_[task].holds) return;
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
    const auto& [type, share] = h.places[i];
    if (pools_[type].take_there(more, {&share, 1})) continue;
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

void Engine::forget_lines() {
  lines_.clear(), heads_.clear(), busy_.clear(), open_.clear(), in_vain_.clear();
  soon_.reset(), soon_stale_.clear();  // there may be more nodes now
  lines_held_back_.clear();
}

std::string Engine::differs(const Engine& other, std::uint32_t task) const {
  if (waits(task) != other.waits(task)) return "whether it waits";
  if (waits(task) && tasks_[task].key != other.tasks_[task].key) return "its place in the queue";
  const Holding *a = holding(task), *b = other.holding(task);
  if (!a != !b) return "whether it holds anything";
  if (!a) return "";
  if (!(a->part == b->part) || a->places != b->places) return "what it holds";
  if (a->standing != b->standing || a->priority != b->priority || a->begun != b->begun) return "how it stands";
  return a->ends != b->ends || a->beginning != b->beginning ? "when it ends" : "";
}

// ---- a round ----

void Engine::push(const Head& head) {
  candidates_.push_back(head);
  std::push_heap(candidates_.begin(), candidates_.end(), std::greater<>{});
}

void Engine::push_next(std::uint32_t line, const Key& after) {
  const auto& waiting = lines_[line].waiting;
  if (const auto next = waiting.upper_bound(after); next != waiting.end()) push({*next, line});
}

void Engine::serve(double now) {
  now_ = now;
  ++round_;
  looked_ahead_ = reserved_ = false;
  may_go_ = some_may_go();
  reserved_for_.reset();
  then_.clear(), held_back_.clear(), candidates_.clear(), left_out_.clear();
  // Where room is on its way, or can be made, those without any have something to ask for too.
  if ((stopping_ > 0 && may_go_) || !held_.empty() || host_.chooses_nodes()) open_all();
  take_open_ones();
  while (!candidates_.empty()) {
    const Head head = candidates_.front();
    if (heads_.begin()->first < head.first) {  // one that has no room is before it
      if (policy_.order->blocks) break;
      if (policy_.backfill && !reserved_for_) reserved_for_ = heads_.begin()->first.task;
    }
    std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>{});
    candidates_.pop_back();
    const auto outcome = place(head.first.task);
    if (outcome == Outcome::started) {
      push_next(head.second, head.first);
      // Those with room that may not pass would be offered other nodes now.
      for (const auto line : std::exchange(held_back_, {})) push_next(line, head.first);
      std::erase_if(left_out_, [&](std::uint32_t line) {
        if (lines_[line].again) push_next(line, head.first);
        return lines_[line].again;
      });
      continue;
    }
    failed(head, outcome);
    if (policy_.order->blocks) break;
  }
  if (policy_.backfill) remember_held_back();
  end_round();
}

// Those to be asked in this round: the first of each line that may have room.
void Engine::take_open_ones() {
  const bool as_before = !lines_held_back_.empty() && reserved_as_before();
  std::erase_if(open_, [&](std::uint32_t line) {
    Line& l = lines_[line];
    l.listed = l.open = l.open && !l.waiting.empty();
    if (!l.open) return true;
    if (as_before && l.held_back && !l.again)
      left_out_.push_back(line);
    else
      candidates_.push_back({*l.waiting.begin(), line});
    return false;
  });
  std::make_heap(candidates_.begin(), candidates_.end(), std::greater<>{});
}

void Engine::failed(const Head& head, Outcome outcome) {
  const auto& [key, line] = head;
  if (may_go_ && make_room(key.task)) {
    if (!policy_.order->blocks) push_next(line, key);  // the next one may have to ask, too
  } else if (outcome == Outcome::no_room && !host_.chooses_nodes()) {
    close(line);
  } else if (reserving()) {
    held_back_.push_back(line);
  }
  if (policy_.backfill && !reserved_for_) reserved_for_ = key.task;
}

Engine::Outcome Engine::place(std::uint32_t task) {
  const Line& line = lines_[tasks_[task].line];
  const TaskWish& wish = *line.wish;
  // One like it found no room in this round: neither will this one. Not where rooms depend on more.
  if (const auto& vain = in_vain_[line.fit]; !reserving() && vain.round == round_) return vain.outcome;
  auto outcome = Outcome::no_room;
  if (host_.chooses_nodes()) {
    if (const auto places = host_.choose(task)) {
      begin(task, *places, false);
      return Outcome::started;
    }
  } else {
    for (const auto type : host_.ranked(task)) {
      if (!line.may_fit(type) ||
          !pools_[type].take(wish.part, wish.parts, taken_, host_.where(task, type)))
        continue;
      const bool mine = claims(type, wish.part, taken_);
      if (!mine || (reserving() && !may_pass(task, type, taken_))) {
        for (const auto& share : taken_) pools_[type].give_back(wish.part, share);
        if (mine && looked_ahead_)
          for (const auto& share : taken_) (*soon_)[type].give_back(wish.part, share);
        outcome = Outcome::not_allowed;
        continue;
      }
      if (reserved_) note_then(type, wish.part, taken_);
      std::vector<Placed> places;
      for (const auto& share : taken_) places.push_back({type, share});
      begin(task, std::move(places), true);
      return Outcome::started;
    }
  }
  in_vain_[line.fit] = {round_, outcome};
  return outcome;
}

void Engine::begin(std::uint32_t task, std::vector<Placed> places, bool taken) {
  Task& t = tasks_[task];
  wait_no_more(task);
  Holding holding{lines_[t.line].wish->part, std::move(places), t.priority, now_};
  if (policy_.backfill) {
    std::vector<Share> shares;
    for (const auto& place : holding.places) shares.push_back(place.share);
    holding.ends = host_.lasts(task, holding.places.front().type, shares).value_or(0);
    holding.beginning = true;
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

void Engine::keep_for_round(std::uint32_t type, const Amount& part, std::vector<Share> shares) {
  kept_.push_back({type, part, std::move(shares)});
}

void Engine::end_round() {
  for (const auto& [type, part, shares] : std::exchange(kept_, {}))
    for (const auto& share : shares) pools_[type].give_back(part, share);
}

}  // namespace tandem::place
