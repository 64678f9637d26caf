// The allocator that made everything anew at each event, kept until the engine decided as it does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <tuple>

#include "base/random.h"
#include "base/text.h"
#include "place/scheduler.h"
#include "place/unwanted.h"

namespace tandem::place {
namespace oracle {

struct Learnt {
  const Experience& experience;
  const JobClasses& classes;
};

std::string what_is_short(const Amount& asked, const Amount& free, const Amount& all);

class Round {
 public:
  Round(const place::Policy&, std::uint64_t seed, const Learnt&, const View&);

  void go_on();       // those that reported and are asked for again
  void serve();       // those that wait
  void reschedule();  // HEATS: those that run
  void wake_again();  // for the next rescheduling

  std::vector<TaskId> in_order() const;
  Explanation explain(TaskId);
  std::vector<DecisionBody> take() { return std::move(out_); }

 private:
  struct Spot {
    std::uint32_t type = 0;
    std::vector<Share> shares{};
  };

  const TaskView& task(TaskId id) const { return view_.tasks[static_cast<std::size_t>(id)]; }
  const JobView& job(TaskId id) const { return view_.jobs[static_cast<std::size_t>(task(id).job)]; }
  int priority(TaskId id) const { return job(id).base().place.priority; }
  double weight(TaskId) const;  // HEATS' H for the task
  Ranking& ranking(TaskId);
  std::vector<std::uint32_t> ranked(TaskId, const TaskWish&);
  std::vector<std::uint32_t> all_ranked(TaskId, const TaskWish&);
  double seconds(TaskId id, std::uint32_t type) const;

  bool take_parts(TaskId, const TaskWish&, std::uint32_t type, std::vector<Pool>& pools,
                  std::vector<Share>& taken);
  bool place(TaskId);
  bool place_by_type(TaskId, const TaskWish&);
  bool alike(TaskId, TaskId) const;  // they ask for the same
  void start(TaskId, const Spot&);
  double drop_of(TaskId) const;
  Resources goes_on_with(const TaskView&) const;
  std::vector<Consideration> consider_types(TaskId, const TaskWish&);
  std::string shortage(const TaskWish&, std::uint32_t type) const;
  void conclude(TaskId, Explanation&);
  bool place_by_infra(TaskId, const TaskWish&);
  std::vector<Consideration> consider_nodes(TaskId, const TaskWish&);
  std::vector<Judgement> judged(TaskId);
  NodeId node_called(const std::string& host) const { return hosts_.at(host); }
  bool make_room(TaskId);  // false: there is none to be made
  bool takes_room_made_for_others(const TaskWish&, const Spot&);
  bool evict_on(TaskId, std::uint32_t type, std::vector<Pool>& soon);
  bool held(TaskId) const;  // it reported, was told to wait, and is not ending
  std::vector<TaskId> may_go_for(TaskId, std::uint32_t type) const;
  void reserve(TaskId);
  bool may_pass(TaskId, const Spot&);
  double left(TaskId) const;  // seconds until it ends, as predicted
  std::optional<Seconds> expected_start(TaskId);
  void consider_move(TaskId);

  const place::Policy& policy_;
  std::uint64_t seed_;
  const Experience& experience_;
  const JobClasses& classes_;
  const View& view_;
  Cluster cluster_;
  LivePredictor predictor_;
  std::vector<std::uint32_t> all_types_;
  std::map<double, std::unique_ptr<Ranking>> rankings_;  // by H
  std::vector<DecisionBody> out_;
  std::optional<std::vector<Pool>> soon_;
  struct Reserved {
    double in = 0;             // seconds from now
    std::vector<Pool> then{};  // what is left beside it
  };
  std::optional<Reserved> reserved_;
  std::vector<std::pair<TaskId, Spot>> begun_;
  std::vector<TaskId> in_vain_;  // found no room in this round; of each kind the first
  std::vector<TaskId> stuck_;    // nor could any be made
  std::vector<TaskId> evicted_;
  std::vector<TaskId> goes_on_;  // in this round: has its cores again
  Amount part_of(const TaskView& t) const {
    Amount out = held_by(t);
    if (std::find(goes_on_.begin(), goes_on_.end(), t.id) != goes_on_.end())
      out.milli_cores += t.granted.cores * std::int64_t{1000};
    return out;
  }
  std::optional<Catalogue> catalogue_;  // of infrastructure-aware placement; made when it is asked for
  std::map<std::string, NodeId> hosts_;
};

Round::Round(const place::Policy& policy, std::uint64_t seed, const Learnt& learnt, const View& view)
    : policy_(policy),
      seed_(seed),
      experience_(learnt.experience),
      classes_(learnt.classes),
      view_(view),
      cluster_(cluster_of(view)),
      predictor_(experience_, view_, cluster_),
      all_types_(cluster_.types.size()) {
  std::iota(all_types_.begin(), all_types_.end(), 0U);
}

double Round::weight(TaskId id) const {
  if (!policy_.heats || !predictor_.knows_energy(id)) return 0;
  if (const auto& own = job(id).base().place.energy_weight) return *own;
  if (policy_.heats->random_h) return Random(seed_, static_cast<std::uint64_t>(id)).uniform();
  return policy_.heats->h;
}

Ranking& Round::ranking(TaskId id) {
  const double h = weight(id);
  auto& found = rankings_[h];
  if (!found) {
    auto policy = policy_;
    if (policy.heats) policy.heats->h = h, policy.heats->random_h = false;
    found = std::make_unique<Ranking>(policy, cluster_.types, &predictor_, seed_);
  }
  return *found;
}

double Round::seconds(TaskId id, std::uint32_t type) const {
  return experience_.expect(view_, task(id), cluster_, type).seconds;
}

std::vector<std::uint32_t> Round::ranked(TaskId id, const TaskWish& wish) {
  auto& ranks = ranking(id);
  auto allowed = ranks.allowed(wish, all_types_);
  if (!policy_.heats && policy_.kit->weighers.empty())  // nothing else ranks them: the fastest first
    std::stable_sort(allowed.begin(), allowed.end(),
                     [&](auto a, auto b) { return seconds(id, a) < seconds(id, b); });
  auto out = ranks.rank(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(task(id).attempt), wish,
                        allowed, cluster_.pools);
  if (const auto& deadline = job(id).base().place.deadline) {
    const double left = (job(id).submitted_at + *deadline - view_.now).value;
    std::stable_partition(out.begin(), out.end(), [&](auto type) { return seconds(id, type) <= left; });
  }
  return out;
}

// The same, then those it may use that have no room now: weighers rank only those that have.
std::vector<std::uint32_t> Round::all_ranked(TaskId id, const TaskWish& wish) {
  auto out = ranked(id, wish);
  for (const auto type : ranking(id).allowed(wish, all_types_))
    if (std::find(out.begin(), out.end(), type) == out.end()) out.push_back(type);
  return out;
}

void Round::go_on() {
  const auto take_cores = [&](const TaskView& t) {
    Amount cores;
    cores.milli_cores = t.granted.cores * std::int64_t{1000};
    const bool taken = cluster_.pools[cluster_.type_of(t)].take_there(cores, cluster_.shares_of(t));
    if (taken) goes_on_.push_back(t.id);
    return taken;
  };
  // For the view the cores of a task are free once it is asked for again. One that was not held goes on at
  // once, so that they are nobody else's.
  const auto goes_on = [&](const TaskView& t) { return t.alive && !wanted_no_more(view_, t); };
  for (const TaskId id : view_.waiting)
    if (const auto& t = task(id); goes_on(t) && !t.parked && t.cores_held == 0) take_cores(t);
  for (const TaskId id : view_.waiting) {
    const auto& t = task(id);
    if (!goes_on(t) || (t.parked && !take_cores(t))) continue;
    if (const Resources next = goes_on_with(t); t.parked || !(next == t.granted))
      out_.push_back(Resize{id, t.attempt, next});
    out_.push_back(Continue{id, t.attempt, t.reported()});
  }
}

// As it is, but for the power and clock of its GPUs. More cores or memory would have to be found somewhere,
// and another precision is no matter of a node's.
Resources Round::goes_on_with(const TaskView& t) const {
  const auto as_it_is = [&](Resources r) {
    r.memory = t.granted.memory, r.gpu_memory = t.granted.gpu_memory;
    r.gpu_power = t.granted.gpu_power, r.gpu_clock = t.granted.gpu_clock;
    return r == t.granted;
  };
  const Option* best = nullptr;
  for (const Option& option : t.options)
    if (as_it_is(option.resources) && (!best || option.seconds < best->seconds)) best = &option;
  Resources out = t.granted;
  if (best) out.gpu_power = best->resources.gpu_power, out.gpu_clock = best->resources.gpu_clock;
  return out;
}

std::vector<TaskId> Round::in_order() const {
  using Key = std::tuple<double, double, TaskId>;
  std::vector<Key> keys;
  for (const TaskId id : view_.waiting) {
    const auto& t = task(id);
    if (t.alive || wanted_no_more(view_, t)) continue;
    JobFacts facts{job(id).submitted_at.value, 0, static_cast<double>(t.nodes_wanted), priority(id)};
    for (const auto type : policy_.order->by_time ? const_cast<Round*>(this)->ranking(id).allowed(wish_of(view_, t), all_types_) : std::vector<std::uint32_t>{})
      facts.seconds = facts.seconds == 0 ? seconds(id, type) : std::min(facts.seconds, seconds(id, type));
    const double asked = t.requested_at.value;
    keys.emplace_back(policy_.order->key ? policy_.order->key(facts) : asked, asked, id);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<TaskId> out;
  for (const auto& key : keys) out.push_back(std::get<TaskId>(key));
  return out;
}

void Round::serve() {
  const bool some_may_go =
      policy_.preemption != Preemption::none ||
      std::any_of(view_.holding.begin(), view_.holding.end(), [&](TaskId id) { return held(id); });
  for (const TaskId id : in_order()) {
    if (place(id)) continue;
    const auto hopeless = [&](TaskId other) { return priority(other) >= priority(id) && alike(other, id); };
    if (some_may_go && std::none_of(stuck_.begin(), stuck_.end(), hopeless) && !make_room(id) &&
        stuck_.size() < 64)
      stuck_.push_back(id);
    if (policy_.order->blocks) return;
    if (policy_.backfill && !reserved_) reserve(id);
  }
}

bool Round::alike(TaskId a, TaskId b) const {
  const auto &one = job(a).base().place, &two = job(b).base().place;
  return wanted_of(task(a)) == wanted_of(task(b)) && task(a).nodes_wanted == task(b).nodes_wanted &&
         one.architecture == two.architecture && one.accelerator == two.accelerator &&
         one.labels == two.labels &&
         (!policy_.infra || (one.bandwidth == two.bandwidth && one.family == two.family));
}

// All its parts, or none.
bool Round::take_parts(TaskId id, const TaskWish& wish, std::uint32_t type, std::vector<Pool>& pools,
                       std::vector<Share>& taken) {
  return pools[type].take(wish.part, wish.parts, taken, ranking(id).where(type, wish.apart));
}

bool Round::place(TaskId id) {
  const auto wish = wish_of(view_, task(id));
  // One like it found no room in this round: neither will this one. Not asked where rooms depend on more.
  const auto same = [&](TaskId other) { return alike(other, id); };
  if (!reserved_ && std::any_of(in_vain_.begin(), in_vain_.end(), same)) return false;
  if (policy_.infra ? place_by_infra(id, wish) : place_by_type(id, wish)) return true;
  if (in_vain_.size() < 64) in_vain_.push_back(id);
  return false;
}

bool Round::place_by_type(TaskId id, const TaskWish& wish) {
  for (const auto type : ranked(id, wish)) {
    std::vector<Share> taken;
    if (!take_parts(id, wish, type, cluster_.pools, taken)) continue;
    const Spot spot{type, taken};
    const bool theirs = takes_room_made_for_others(wish, spot);
    if (theirs || (reserved_ && !may_pass(id, spot))) {
      if (!theirs && soon_)
        for (const Share& share : taken) (*soon_)[type].give_back(wish.part, share);
      for (const Share& share : taken) cluster_.pools[type].give_back(wish.part, share);
      continue;
    }
    start(id, spot);
    return true;
  }
  return false;
}

void Round::start(TaskId id, const Spot& spot) {
  const auto node = [&](const Share& share) { return cluster_.nodes[spot.type][share.node]; };
  Start start{id, task(id).attempt + 1, node(spot.shares.front()), wanted_of(task(id)), drop_of(id)};
  for (const Share& share : std::span(spot.shares).subspan(1)) start.more.push_back(node(share));
  out_.push_back(std::move(start));
  begun_.emplace_back(id, spot);
}

// What DiAS leaves out of a task: as much as its tolerated loss allows, if somebody stands above it.
double Round::drop_of(TaskId id) const {
  if (!policy_.dropping || job(id).base().place.loss <= 0) return 0;
  const auto above = [&](const JobView& other) { return other.base().place.priority > priority(id); };
  const auto is_above = [&](TaskId other) {
    return above(job(other)) && !wanted_no_more(view_, task(other));
  };
  bool any = std::any_of(view_.waiting.begin(), view_.waiting.end(), is_above) ||
             std::any_of(view_.holding.begin(), view_.holding.end(), is_above);
  for (auto other = view_.jobs.rbegin(); other != view_.jobs.rend() && !any; ++other) {
    if ((view_.now - other->submitted_at).value > policy_.dropping->recently) break;
    any = above(*other);
  }
  return any ? policy_.dropping->curve.most_drop(job(id).base().place.loss) : 0;
}

std::vector<Consideration> Round::consider_types(TaskId id, const TaskWish& wish) {
  std::vector<Consideration> out;
  for (const auto& row :
       ranking(id).explain(static_cast<std::uint32_t>(id), wish, all_types_, cluster_.pools)) {
    const auto& type = cluster_.types[row.type];
    Consideration c{type.name,
                    type.count,
                    0,
                    row.refused,
                    row.score,
                    row.why,
                    experience_.expect(view_, task(id), cluster_, row.type)};
    for (const NodeId node : cluster_.nodes[row.type])
      c.up += view_.nodes[static_cast<std::size_t>(node)].capacity.cores > 0;
    const bool part_fits = Pool::could_ever(type.node, type.count, wish.part, 1);
    if (!part_fits)
      c.refused = fmt::format("{} asked for, a node has {}", text(wish.part), text(type.node));
    else if (!Pool::could_ever(type.node, type.count, wish.part, wish.parts, wish.apart))
      c.refused = fmt::format("{} nodes asked for, there are {}", wish.parts, type.count);
    c.passes = c.refused == kNoRoom;
    if (c.passes) c.why = shortage(wish, row.type);
    out.push_back(std::move(c));
  }
  return out;
}

// Of what no node of the type has enough now.
std::string Round::shortage(const TaskWish& wish, std::uint32_t type) const {
  Amount most;  // free on any of them
  for (std::uint32_t index = 0; index < cluster_.nodes[type].size(); ++index) {
    const NodeId node = cluster_.nodes[type][index];
    if (view_.nodes[static_cast<std::size_t>(node)].capacity.cores == 0) continue;
    const Amount free = cluster_.pools[type].free_on(index);
    most.milli_cores = std::max(most.milli_cores, free.milli_cores);
    most.memory = std::max(most.memory, free.memory);
    most.gpus = std::max(most.gpus, free.gpus);
  }
  return what_is_short(wish.part, most, cluster_.types[type].node);
}

std::string what_is_short(const Amount& asked, const Amount& free, const Amount& all) {
  std::vector<std::string> out;
  const auto cores = [](const Amount& amount) { return static_cast<double>(amount.milli_cores) / 1000; };
  if (free.milli_cores < asked.milli_cores)
    out.push_back(fmt::format("{:g} core{} asked for, {:g} of {:g} free", cores(asked),
                              asked.milli_cores == 1000 ? "" : "s", cores(free), cores(all)));
  if (free.memory < asked.memory)
    out.push_back(fmt::format("{} asked for, {} of {} free", text_bytes(asked.memory),
                              text_bytes(free.memory), text_bytes(all.memory)));
  if (free.gpus < asked.gpus)
    out.push_back(fmt::format("{} GPU{} asked for, {} of {} free", asked.gpus, asked.gpus == 1 ? "" : "s",
                              free.gpus, all.gpus));
  return join(out, "; ");
}

Explanation Round::explain(TaskId id) {
  Explanation out;
  out.policy = policy_.name;
  if (policy_.heats) out.energy_weight = weight(id);
  const auto wish = wish_of(view_, task(id));
  out.types = policy_.infra ? consider_nodes(id, wish) : consider_types(id, wish);
  const auto line = in_order();
  const auto place = std::find(line.begin(), line.end(), id);
  out.ahead = place == line.end() ? 0 : static_cast<int>(place - line.begin());
  if (place != line.end()) conclude(id, out);
  return out;
}

void Round::conclude(TaskId id, Explanation& out) {
  const auto any = [&](auto test) { return std::any_of(out.types.begin(), out.types.end(), test); };
  const bool can = any([](const Consideration& c) { return c.refused.empty(); });
  const bool full = any([](const Consideration& c) { return c.refused == kNoRoom; });
  if (!can && !any([](const Consideration& c) { return c.passes; })) {
    out.verdict = "no machine here can ever run it: change what it asks for, or add such a machine";
    return;
  }
  out.verdict = can    ? "there is room for it; it is behind others, or starts with the next event"
                : full ? "no machine that it may use has room now"
                       : "no node is fit for it now; it waits until one is seen to be";
  if (can || full) out.expected_start = expected_start(id);
  out.start_note = out.expected_start ? "from the run times expected of those before it"
                   : can || full      ? "the run time of somebody before it is not known (place.takes)"
                                      : "what others do on the nodes is not known before it is seen";
}

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
    bool up = true;
    t.each_node([&](NodeId n) { up = up && view_.nodes[static_cast<std::size_t>(n)].capacity.cores > 0; });
    if (!there || leaves || !up) continue;
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
    for (const Share& share : cluster_.shares_of(leaves)) soon[type].give_back(part_of(leaves), share);
    room = take_parts(id, wish, type, soon, taken);
  }
  // Whoever still has room where it was stays; that is everyone where it was all in vain.
  for (std::size_t i = gone; i-- > 0;) {
    if (soon[type].take_there(part_of(task(lower[i])), cluster_.shares_of(task(lower[i])))) continue;
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
  for (const auto& [other, spot] : begun_) ends.emplace_back(seconds(other, spot.type), other);
  std::sort(ends.begin(), ends.end());
  const auto wish = wish_of(view_, task(id));
  const auto types = ranking(id).allowed(wish, all_types_);
  auto later = cluster_;
  reserved_.emplace();
  reserved_->in = std::numeric_limits<double>::infinity();
  std::vector<Share> taken;
  for (const auto& [in, other] : ends) {
    auto type = later.type_of(task(other));
    const auto now = std::find_if(begun_.begin(), begun_.end(), [o = other](const auto& b) { return b.first == o; });
    if (now == begun_.end()) {
      for (const Share& share : later.shares_of(task(other)))
        later.pools[type].give_back(part_of(task(other)), share);
    } else {
      type = now->second.type;
      for (const Share& share : now->second.shares)
        later.pools[type].give_back(amount_of(wanted_of(task(other))), share);
    }
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
  const auto scores = ranking(id).scores(static_cast<std::uint32_t>(id), ranking(id).allowed(wish, all_types_));
  for (const auto& scored : scores) {
    const auto type = scored.type;
    if (type == here) break;
    if (!ranking(id).has_room(wish, cluster_.pools[type], type)) continue;
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
  for (double now = 0;;) {
    for (auto next = line.begin(); next != line.end();) {
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
    for (const Share& share : taken[type])
      put_there(*catalogue_, cluster_,
                view_.nodes[static_cast<std::size_t>(cluster_.nodes[type][share.node])],
                demands_of(view_, task(id)));
    start(id, {type, taken[type]});
    taken.erase(type);
    started = true;
    break;
  }
  for (const auto& [type, shares] : taken)
    for (const Share& share : shares) cluster_.pools[type].give_back(wish.part, share);
  return started;
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

}  // namespace oracle

namespace {

// The allocator as it was: everything made anew at each event.
std::vector<DecisionBody> old_step(const Policy& policy, const Experience& experience, const JobClasses& classes,
                                   const View& view, const Event& event) {
  std::vector<DecisionBody> out;
  for (auto& stop : stops_of_unwanted(view)) out.push_back(std::move(stop));
  const bool woke = std::holds_alternative<Woke>(event.body);
  const bool reschedules =
      policy.heats && policy.heats->moves != HeatsOptions::Moves::none && policy.heats->every > 0;
  if (view.waiting.empty() && !(reschedules && !view.holding.empty())) return out;
  oracle::Round round(policy, 1, {experience, classes}, view);
  round.go_on();
  round.serve();
  if (reschedules && woke && view.waiting.empty()) round.reschedule();
  if (reschedules) round.wake_again();
  for (auto& decision : round.take()) out.push_back(std::move(decision));
  return out;
}

class Play {
 public:
  Play(const std::string& policy, std::uint64_t seed)
      : random_(seed, 77), scheduler_(parse_policy(policy), 1), name_(policy + " seed " + std::to_string(seed)) {
    const int types = 1 + static_cast<int>(random_.below(3));
    for (int type = 0; type < types; ++type) {
      const int nodes = 1 + static_cast<int>(random_.below(4));
      NodeTraits traits;
      traits.pace = 0.5 + 0.7 * type;
      if (random_.below(4) > 0) traits.idle = Watts{5.0 + 3 * type}, traits.busy = Watts{20.0 + 30.0 * type};
      if (type == 1) traits.labels = {"ssd"};
      Resources has{4 << type, Bytes{8} << 30, 1.0};
      if (type == 2) has.gpus = 2;
      for (int i = 0; i < nodes; ++i)
        happens(NodeJoined{static_cast<NodeId>(view_.nodes.size()), "n" + std::to_string(view_.nodes.size()), has,
                           "type" + std::to_string(type), traits});
    }
    for (const auto& node : view_.nodes.values()) happens(NodeObserved{node.id, {.cpu = 0.1}});
  }

  void run(int events) {
    for (int i = 0; i < events && !testing::Test::HasFailure(); ++i) {
      if (random_.below(3) > 0) now_ += random_.uniform(0, 8);
      something();
    }
  }
  int starts = 0, stops = 0;

 private:
  TaskId pick(const std::function<bool(const TaskView&)>& good) {
    std::vector<TaskId> all;
    for (const auto& t : view_.tasks)
      if (good(t)) all.push_back(t.id);
    return all.empty() ? -1 : all[random_.below(all.size())];
  }
  const TaskView& at(TaskId id) { return view_.tasks[static_cast<std::size_t>(id)]; }

  void something() {
    const auto what = random_.below(20);
    if (what < 7) return submit();
    if (what < 11) {
      const auto id = pick([](const auto& t) { return t.state == TaskState::starting; });
      if (id >= 0) return happens(TaskStarted{id, at(id).attempt, start_of(id), 0, 0, {}});
    }
    if (what < 15) {
      const auto id = pick([](const auto& t) { return t.state == TaskState::running || t.state == TaskState::stopping; });
      if (id >= 0) return ends(id);
    }
    if (what == 15) {
      const auto id = pick([](const auto& t) { return t.state == TaskState::running; });
      if (id >= 0) return reports(id);
    }
    if (what == 16) {
      const auto id = pick([](const auto& t) { return t.state == TaskState::held; });
      if (id >= 0) {
        after_ = [this, id] {
          if (random_.below(3) == 0)
            decide(Release{id, "enough"});
          else
            ask(id);
        };
        return happens(Woke{0});
      }
    }
    if (what == 17) {
      const auto& node = view_.nodes[random_.below(view_.nodes.size())];
      return happens(NodeJoined{node.id, node.name, node.capacity.cores == 0 ? node.largest : Resources{0, 0, 1.0},
                                node.type, node.traits});
    }
    if (what == 18 && !view_.jobs.empty()) {
      const auto job = static_cast<JobId>(random_.below(view_.jobs.size()));
      if (random_.below(4) == 0) return happens(JobCancelled{job, "enough"});
      const auto id = pick([](const auto& t) { return t.alive; });
      if (id >= 0 && random_.below(2) == 0) {
        after_ = [this, id] { ask(id); };
        return happens(TaskFailed{id, at(id).attempt, Failure::lost, "", "", {}});
      }
    }
    for (const auto& [id, decision] : view_.open)
      if (const auto* wake = std::get_if<Wake>(&decision.body)) {
        now_ = std::max(now_, wake->at.value);
        return happens(Woke{id});
      }
  }

  DecisionId start_of(TaskId id) {
    for (const auto& [number, decision] : view_.open)
      if (const auto* start = std::get_if<Start>(&decision.body); start && start->task == id) return number;
    return 0;
  }
  void submit() {
    spec::TrainJob job;
    job.program.plain = random_.below(2) == 0;
    job.epochs = job.program.plain ? 0 : 10;
    job.system.cores = 1 + static_cast<int>(random_.below(4));
    if (random_.below(3) == 0) job.system.memory = Bytes{1} << (28 + random_.below(5));
    if (random_.below(6) == 0) job.system.gpus = 1;
    if (random_.below(5) == 0) job.nodes = 2;
    job.place.priority = static_cast<int>(random_.below(3));
    if (random_.below(5) > 0) job.place.seconds = Seconds{5.0 * static_cast<double>(1 + random_.below(8))};
    if (random_.below(5) == 0) job.place.labels = {random_.below(2) == 0 ? "ssd" : "!ssd"};
    if (random_.below(4) == 0) job.place.family = "f", job.place.work = static_cast<double>(1 + random_.below(3));
    if (random_.below(6) == 0) job.place.deadline = Seconds{30};
    if (random_.below(4) == 0) job.place.energy_weight = 0.3;
    if (random_.below(3) == 0) job.place.loss = 0.2;
    const auto id = static_cast<JobId>(view_.jobs.size());
    const int tasks = random_.below(6) == 0 ? 3 : 1;
    after_ = [this, id, job, tasks] {
      for (int i = 0; i < tasks; ++i) {
        Request request{static_cast<TaskId>(view_.tasks.size()), id, job.system};
        request.nodes = job.nodes;
        decide(request);
      }
    };
    happens(JobSubmitted{id, job});
  }
  void ask(TaskId id) {
    Request request{id, at(id).job, at(id).wanted};
    request.nodes = at(id).nodes_wanted;
    decide(request);
  }
  void ends(TaskId id) {
    after_ = [this, id, again = at(id).evicted] {
      if (again)
        ask(id);
      else
        decide(FinishJob{at(id).job, JobState::finished, "done"});
    };
    happens(TaskEnded{id, at(id).attempt, {}});
  }
  void reports(TaskId id) {
    after_ = [this, id] {
      if (random_.below(2) == 0)
        decide(Hold{id, at(id).attempt});
      else
        ask(id);
    };
    happens(EpochEnded{id, at(id).attempt, at(id).reported() + 1, {}, Seconds{1}, {}, {}});
  }

  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }
  void happens(EventBody body) {
    const Event event{Seconds{now_}, std::move(body)};
    view_.apply(event);
    if (after_) std::exchange(after_, nullptr)();
    experience_.saw(view_, event);
    classes_.saw(view_, event);
    const auto old = old_step(scheduler_.policy(), experience_, classes_.classes(), view_, event);
    const auto now = scheduler_.step(view_, event);
    if (old != now) {
      ADD_FAILURE() << name_ << " event " << view_.events << " " << tandem::name(event.body);
      for (const auto& d : old) std::cerr << "  old " << show(d) << "\n";
      for (const auto& d : now) std::cerr << "  new " << show(d) << "\n";
    }
    for (const auto& made : now) {
      starts += std::holds_alternative<Start>(made), stops += std::holds_alternative<Stop>(made);
      decide(made);
    }
    const auto differs = scheduler_.check(view_);
    if (!differs.empty()) ADD_FAILURE() << name_ << " event " << view_.events << ": " << differs;
  }
  static std::string show(const DecisionBody& body) {
    if (const auto* start = std::get_if<Start>(&body))
      return fmt::format("start {} on {} +{}", start->task, start->node, start->more.size());
    if (const auto* stop = std::get_if<Stop>(&body)) return fmt::format("stop {} {}", stop->task, stop->reason);
    if (const auto* go = std::get_if<Continue>(&body)) return fmt::format("continue {}", go->task);
    return tandem::name(body);
  }

  Random random_;
  Scheduler scheduler_;
  Experience experience_;
  ClassMemory classes_{};
  std::string name_;
  View view_;
  double now_ = 0;
  std::function<void()> after_;
};

TEST(SchedulerOracle, DecidesAsTheAllocatorThatMadeEverythingAnew) {
  std::vector<std::string> names{"heats:H=0.5:x=10:cost=1", "heats:H=random:x=5", "kit:filter=threshold@0.8:weigh=free+time:nodes=most",
                                 "kit:nodes=random", "kit:weigh=full:order=fifo"};
  for (const auto& entry : policies()) names.push_back(entry.name);
  for (const auto& name : names) {
    int starts = 0, stops = 0;
    for (std::uint64_t seed = 0; seed < 30 && !HasFailure(); ++seed) {
      Play play(name, seed);
      play.run(250);
      starts += play.starts, stops += play.stops;
    }
    std::cerr << name << ": " << starts << " starts, " << stops << " stops\n";
  }
}

}  // namespace
}  // namespace tandem::place
