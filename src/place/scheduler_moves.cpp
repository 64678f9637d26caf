// Who makes room for whom: preemption, backfill, and HEATS' rescheduling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

#include "place/scheduler_round.h"
#include "place/unwanted.h"

namespace tandem::place {

// ---- preemption ----

bool Round::held(TaskId id) const {
  return task(id).state == TaskState::held && !wanted_no_more(view_, task(id));
}

// Held ones under every policy, those of lower priority where the policy preempts.
std::vector<TaskId> Round::may_go_for(TaskId id, std::uint32_t type) const {
  const bool preempts = policy_.preemption != Preemption::none;
  std::vector<TaskId> out;
  for (const TaskId other : view_.holding) {
    const auto& t = task(other);
    const bool there = cluster_.type_of(t) == type;
    const bool leaves = t.state == TaskState::stopping || wanted_no_more(view_, t) ||
                        std::find(evicted_.begin(), evicted_.end(), other) != evicted_.end();
    if (!there || leaves) continue;
    if (held(other) || (preempts && priority(other) < priority(id))) out.push_back(other);
  }
  // The held first, of these and of the others the lowest, and of equals who started last.
  std::sort(out.begin(), out.end(), [&](TaskId a, TaskId b) {
    const auto key = [&](TaskId t) {
      return std::tuple(!held(t), priority(t), -task(t).started_at.value, -t);
    };
    return key(a) < key(b);
  });
  return out;
}

bool Round::make_room(TaskId id) {
  const auto wish = wish_of(view_, task(id));
  if (!soon_) {
    auto later = cluster_;
    for (const TaskId other : view_.holding)
      if (task(other).state == TaskState::stopping || wanted_no_more(view_, task(other)))
        later.give_back(task(other));
    soon_ = std::move(later.pools);
  }
  const auto types = all_ranked(id, wish);
  std::vector<Share> taken;
  for (const auto type : types)  // room is on its way
    if (take_parts(id, wish, type, *soon_, taken)) return true;
  for (const auto type : types)
    if (evict_on(id, type, *soon_)) return true;
  return false;
}

bool Round::takes_room_made_for_others(const TaskWish& wish, const Spot& spot) {
  return soon_ && !(*soon_)[spot.type].take_there(wish.part, spot.shares);
}

bool Round::evict_on(TaskId id, std::uint32_t type, std::vector<Pool>& soon) {
  const auto wish = wish_of(view_, task(id));
  const auto lower = may_go_for(id, type);
  std::vector<Share> taken;
  std::size_t gone = 0;
  bool room = false;
  while (!room && gone < lower.size()) {
    const auto& leaves = task(lower[gone++]);
    for (const Share& share : cluster_.shares_of(leaves)) soon[type].give_back(held_by(leaves), share);
    room = take_parts(id, wish, type, soon, taken);
  }
  // Whoever still has room where it was stays; that is everyone where it was all in vain.
  for (std::size_t i = gone; i-- > 0;) {
    if (soon[type].take_there(held_by(task(lower[i])), cluster_.shares_of(task(lower[i])))) continue;
    evicted_.push_back(lower[i]);
    const bool was_held = held(lower[i]);  // its controller asks for it when its turn comes
    out_.push_back(Stop{lower[i], task(lower[i]).attempt,
                        was_held
                            ? fmt::format("held, and job {} needs its memory or GPUs", task(id).job)
                            : fmt::format("makes room for job {} of priority {}", task(id).job, priority(id)),
                        !was_held});
  }
  return room;
}

// ---- backfill ----

double Round::left(TaskId id) const {
  const auto& t = task(id);
  const auto type = cluster_.type_of(t);
  const double begun = t.state == TaskState::starting ? view_.now.value : t.started_at.value;
  return std::max(0.0, begun + seconds(id, type) - view_.now.value);
}

// When the task can start at the latest if those that run end as predicted, and what is free beside it then.
void Round::reserve(TaskId id) {
  std::vector<std::pair<double, TaskId>> ends;
  for (const TaskId other : view_.holding) ends.emplace_back(left(other), other);
  std::sort(ends.begin(), ends.end());
  const auto wish = wish_of(view_, task(id));
  const auto types = ranking(id).allowed(wish, all_types_);
  auto later = cluster_;
  reserved_.emplace();
  reserved_->in = std::numeric_limits<double>::infinity();
  std::vector<Share> taken;
  for (const auto& [in, other] : ends) {
    later.give_back(task(other));
    const auto type = later.type_of(task(other));
    const bool useful = std::find(types.begin(), types.end(), type) != types.end();
    if (!useful || !later.pools[type].take(wish.part, wish.parts, taken, {.apart = wish.apart})) continue;
    reserved_->in = in;
    break;
  }
  reserved_->then = std::move(later.pools);
}

bool Round::may_pass(TaskId id, const Spot& spot) {
  const auto expected = experience_.expect(view_, task(id), cluster_, spot.type);
  if (expected.from != Expected::From::nothing && expected.seconds <= reserved_->in) return true;
  return reserved_->then[spot.type].take_there(amount_of(wanted_of(task(id))), spot.shares);
}

// ---- HEATS' rescheduling ----

void Round::reschedule() {
  for (const TaskId id : view_.holding)
    if (task(id).state == TaskState::running && !wanted_no_more(view_, task(id))) consider_move(id);
}

void Round::consider_move(TaskId id) {
  const auto& t = task(id);
  const auto here = cluster_.type_of(t);
  const auto expected = experience_.expect(view_, t, cluster_, here);
  if (expected.from == Expected::From::nothing) return;
  const auto wish = wish_of(view_, t);
  const auto& spec = job(id).base();
  const double done =
      spec.epochs > 0 ? static_cast<double>(t.reported()) / static_cast<double>(spec.epochs) : 0;
  const double rest = spec.program.plain ? left(id) / expected.seconds : 1 - done;
  if (!(rest > 0)) return;
  // A plain program starts over, so all of it is to be done there.
  const double redo = spec.program.plain ? 1 / rest : 1;
  std::vector<HeatsOption> there;
  for (const auto type : ranking(id).allowed(wish, all_types_)) {
    if (type == here || !ranking(id).has_room(wish, cluster_.pools[type], type)) continue;
    const auto said = predictor_.predict(static_cast<std::uint32_t>(id), type);
    there.push_back({type, {said.seconds * redo, said.joules * redo}});
  }
  auto options = *policy_.heats;
  options.moves = HeatsOptions::Moves::stateful;  // one process of a task at a time
  const auto better = better_place(options, weight(id), rest, {expected.seconds, expected.joules}, there);
  if (!better) return;
  std::vector<Share> taken;
  take_parts(id, wish, *better, cluster_.pools, taken);
  out_.push_back(Stop{id, t.attempt,
                      fmt::format("moves from {} to {}, where the rest of it fits better",
                                  cluster_.types[here].name, cluster_.types[*better].name),
                      true});
}

void Round::wake_again() {
  const double every = policy_.heats->every;
  const Seconds at{(std::floor(view_.now.value / every) + 1) * every};
  for (const auto& [id, decision] : view_.open)
    if (const auto* wake = std::get_if<Wake>(&decision.body); wake && wake->at == at) return;
  out_.push_back(Wake{at});
}

// ---- when will it start? ----

std::optional<Seconds> Round::expected_start(TaskId id) {
  auto later = cluster_;
  using End = std::pair<double, std::function<void()>>;
  const auto by_time = [](const End& a, const End& b) { return a.first > b.first; };
  std::priority_queue<End, std::vector<End>, decltype(by_time)> ends(by_time);
  const auto known = [&](TaskId t, std::uint32_t type) {
    return experience_.expect(view_, task(t), cluster_, type).from != Expected::From::nothing;
  };
  for (const TaskId other : view_.holding) {
    if (!known(other, cluster_.type_of(task(other)))) return std::nullopt;
    ends.emplace(left(other), [&later, this, other] { later.give_back(task(other)); });
  }
  auto line = in_order();
  int tries = 0;
  for (double now = 0;;) {
    for (auto next = line.begin(); next != line.end();) {
      if (looked_too_far_ = ++tries > kMostTries; looked_too_far_) return std::nullopt;
      const auto wish = wish_of(view_, task(*next));
      std::vector<Share> taken;
      std::optional<std::uint32_t> type;
      for (const auto candidate : all_ranked(*next, wish))
        if (take_parts(*next, wish, candidate, later.pools, taken)) {
          type = candidate;
          break;
        }
      if (!type && policy_.order->blocks) break;
      if (!type) {
        ++next;
        continue;
      }
      if (*next == id) return view_.now + Seconds{now};
      if (!known(*next, *type)) return std::nullopt;
      ends.emplace(now + seconds(*next, *type), [&later, type = *type, part = wish.part, taken] {
        for (const Share& share : taken) later.pools[type].give_back(part, share);
      });
      next = line.erase(next);
    }
    if (ends.empty()) return std::nullopt;
    now = ends.top().first;
    ends.top().second();
    ends.pop();
  }
}

}  // namespace tandem::place
