#include "place/scheduler_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "base/random.h"
#include "base/text.h"
#include "place/placement_reason.h"
#include "place/unwanted.h"

namespace tandem::place {
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

// Energy counts only where it can be told on every type: otherwise machines nobody knows would look thrifty.
double Round::weight(TaskId id) const {
  if (!policy_.heats || !predictor_.knows_energy(id)) return 0;
  if (const auto& own = job(id).spec.place.energy_weight) return *own;
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

// Types in the order in which they are tried; those that would miss the job's deadline last.
std::vector<std::uint32_t> Round::ranked(TaskId id, const TaskWish& wish) {
  auto& ranks = ranking(id);
  auto allowed = ranks.allowed(wish, all_types_);
  if (!policy_.heats && policy_.kit->weighers.empty())  // nothing else ranks them: the fastest first
    std::stable_sort(allowed.begin(), allowed.end(),
                     [&](auto a, auto b) { return seconds(id, a) < seconds(id, b); });
  auto out = ranks.rank(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(task(id).attempt), wish,
                        allowed, cluster_.pools);
  if (const auto& deadline = job(id).spec.place.deadline) {
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
    return cluster_.pools[cluster_.type_of(t)].take_there(cores, cluster_.shares_of(t));
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
    JobFacts facts{job(id).submitted_at.value, 0, 1, priority(id)};
    for (const auto type : policy_.order->by_time ? all_types_ : std::vector<std::uint32_t>{})
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
  const auto &one = job(a).spec.place, &two = job(b).spec.place;
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
    if (takes_room_made_for_others(wish, spot) || (reserved_ && !may_pass(id, spot))) {
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
  start.reason = reason(id, spot);
  out_.push_back(std::move(start));
}

// As it was before the task took its room.
PlacementReason Round::reason(TaskId id, const Spot& spot) {
  const auto wish = wish_of(view_, task(id));
  auto& pool = cluster_.pools[spot.type];
  for (const Share& share : spot.shares) pool.give_back(wish.part, share);
  const PlacedBy by{view_, cluster_, experience_, ranking(id)};
  auto out = policy_.infra
                 ? infra_reason(by, id, wish, cluster_.nodes[spot.type][spot.shares.front().node])
                 : placement_reason(by, id, wish, ranked(id, wish), spot.type);
  if (policy_.heats) out.energy_weight = weight(id);
  [[maybe_unused]] const bool again = pool.take_there(wish.part, spot.shares);
  assert(again);
  return out;
}

// What DiAS leaves out of a task: as much as its tolerated loss allows, if somebody stands above it.
double Round::drop_of(TaskId id) const {
  if (!policy_.dropping || job(id).spec.place.loss <= 0) return 0;
  const auto above = [&](const JobView& other) { return other.spec.place.priority > priority(id); };
  const auto is_above = [&](TaskId other) {
    return above(job(other)) && !wanted_no_more(view_, task(other));
  };
  bool any = std::any_of(view_.waiting.begin(), view_.waiting.end(), is_above) ||
             std::any_of(view_.holding.begin(), view_.holding.end(), is_above);
  for (auto other = view_.jobs.rbegin(); other != view_.jobs.rend() && !any; ++other) {
    if ((view_.now - other->submitted_at).value > policy_.dropping->recently) break;
    any = above(*other);
  }
  return any ? policy_.dropping->curve.most_drop(job(id).spec.place.loss) : 0;
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
  looked_too_far_ = out.ahead >= kMostTries;
  if ((can || full) && !looked_too_far_) out.expected_start = expected_start(id);
  out.start_note = out.expected_start ? "from the run times expected of those before it"
                   : looked_too_far_  ? "too many are before it"
                   : can || full      ? "the run time of somebody before it is not known (place.takes)"
                                      : "what others do on the nodes is not known before it is seen";
}

}  // namespace tandem::place
