#include "place/engine/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "place/policy/unwanted.h"

namespace tandem::place {

Live::Live(const place::Policy& policy, std::uint64_t seed, const Learnt& learnt)
    : PlacementContext(policy, seed, learnt, nullptr, own_), engine_(policy_, own_.pools, *this) {}

bool Live::reschedules() const {
  return policy_.heats && policy_.heats->moves != HeatsOptions::Moves::none && policy_.heats->every > 0;
}

std::vector<DecisionBody> Live::decide(const Event& event) {
  out_.clear();
  for (const TaskId id : unwanted_) out_.push_back(stop_of_unwanted(*view_, task(id)));
  if (policy_.malleable) {
    resize_and_serve();
    return std::move(out_);
  }
  if (view_->waiting.empty() && !(reschedules() && !view_->holding.empty())) return std::move(out_);
  forget_observed();
  go_on();
  engine_.serve(view_->now.value);
  if (reschedules() && std::holds_alternative<Woke>(event.body) && view_->waiting.empty()) reschedule();
  if (reschedules()) wake_again();
  return std::move(out_);
}

// ---- what the engine asks ----

const std::vector<std::uint32_t>& Live::ranked(std::uint32_t number) {
  const auto id = static_cast<TaskId>(number);
  if (!order_is_fixed()) return ranked_ = PlacementContext::ranked(id, line_of(id).needs);
  const Line& line = line_known(id);
  const auto& deadline = job(id).base().place.deadline;
  if (!deadline) return line.order;
  ranked_ = line.order;
  const double left = (job(id).submitted_at + *deadline - view_->now).value;
  std::stable_partition(ranked_.begin(), ranked_.end(),
                        [&](auto type) { return line.expected[type].seconds <= left; });
  return ranked_;
}

Where Live::where(std::uint32_t number, std::uint32_t type) {
  const auto id = static_cast<TaskId>(number);
  if (!order_is_fixed()) return ranking(id).where(type, line_of(id).needs.apart);
  const Line& line = line_known(id);
  return ranking_for(line.h).where(type, line.needs.apart);
}

Lasts Live::lasts(std::uint32_t number, std::uint32_t type, std::span<const Share>) {
  const auto& expected = line_known(static_cast<TaskId>(number)).expected[type];
  return {expected.seconds, expected.from != Expected::From::nothing};
}

// The one place where a start is decided, with all that it rests on at hand.
void Live::start(std::uint32_t number, std::span<const Placed> places) {
  const auto id = static_cast<TaskId>(number);
  out_.push_back(start_of(id, places, wanted_of(task(id))));
}

Start Live::start_of(TaskId id, std::span<const Placed> places, const Resources& granted) {
  const auto node = [&](const Placed& place) { return cluster_.nodes[place.type][place.share.node]; };
  Start start{id, task(id).attempt + 1, node(places.front()), granted, drop_of(id)};
  for (const auto& place : places.subspan(1)) start.more.push_back(node(place));
  start.reason = reason(id, places.front());
  if (catalogue_)
    for (const auto& place : places)
      put_there(*catalogue_, cluster_, view_->nodes[static_cast<std::size_t>(node(place))],
                demands_of(*view_, task(id)));
  return start;
}

void Live::stop(std::uint32_t number, const StopCause& cause) {
  const auto id = static_cast<TaskId>(number), other = static_cast<TaskId>(*cause.room_for);
  // One that is held is asked for by its controller when its turn comes.
  out_.push_back(Stop{
      id, task(id).attempt,
      cause.was_held ? fmt::format("held, and job {} needs its memory or GPUs", task(other).job)
                     : fmt::format("makes room for job {} of priority {}", task(other).job, priority(other)),
      !cause.was_held});
}

// Infrastructure-aware placement: the node is chosen by what was observed of it, not by its machine type.
std::optional<std::vector<Placed>> Live::choose(std::uint32_t number) {
  const auto id = static_cast<TaskId>(number);
  const Line& line = line_of(id);
  const auto& types = engine_.types_of_line(line.number);
  const auto nodes = judged(id);
  std::map<std::uint32_t, std::vector<Placed>> found;  // by type: a gang is on nodes of one
  const std::vector<Placed>* enough = nullptr;
  chosen_from_.clear(), could_choose_ = 0;
  for (const std::size_t place : admitted(nodes, policy_.infra->pick.readmit)) {
    const NodeId node = node_called(nodes[place].host);
    const auto [type, index] = cluster_.place[static_cast<std::size_t>(node)];
    if (std::find(types.begin(), types.end(), type) == types.end()) continue;
    ++could_choose_;
    if (enough) continue;
    if (chosen_from_.size() == PlacementReason::kKept) chosen_from_.pop_back();  // the last one is kept
    chosen_from_.emplace_back(node, nodes[place]);
    if (!cluster_.pools[type].fits_on(index, line.needs.part)) continue;
    auto& there = found[type];
    there.push_back({type, Share{index, 1, 0}});
    if (static_cast<std::int64_t>(there.size()) == line.needs.parts) enough = &there;
  }
  return enough ? std::optional(*enough) : std::nullopt;
}

// ---- those that reported ----

// For the view the cores of a task are free once it is asked for again. One that was not held goes on at
// once, so that they are nobody else's; one that was has them if they are still there.
void Live::go_on() {
  const auto take_cores = [&](const TaskView& t) {
    Amount part = held_by(t);
    part.milli_cores = std::max(part.milli_cores, t.granted.cores * std::int64_t{1000});
    return engine_.change_part(static_cast<std::uint32_t>(t.id), part);
  };
  const auto is_down = [&](const TaskView& t) {
    bool down = false;
    t.each_node(
        [&](NodeId node) { down |= view_->nodes[static_cast<std::size_t>(node)].capacity.cores == 0; });
    return down;
  };
  for (const TaskId id : answering_)
    if (!task(id).parked) take_cores(task(id));
  for (const TaskId id : answering_) {
    const auto& t = task(id);
    if (t.parked && (is_down(t) || !take_cores(t))) continue;
    if (const Resources next = goes_on_with(t); t.parked || !(next == t.granted))
      out_.push_back(Resize{id, t.attempt, next});
    out_.push_back(Continue{id, t.attempt, t.reported()});
  }
}

// As it is, but for the power and clock of its GPUs. More cores or memory would have to be found somewhere,
// and another precision is no matter of a node's.
Resources Live::goes_on_with(const TaskView& t) const {
  if (t.keeps_size) return t.granted;
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

// What DiAS leaves out of a task: as much as its tolerated loss allows, if somebody stands above it.
double Live::drop_of(TaskId id) const {
  if (!policy_.dropping || job(id).base().place.loss <= 0) return 0;
  const auto above = [&](const JobView& other) { return other.base().place.priority > priority(id); };
  const auto is_above = [&](TaskId other) {
    return above(job(other)) && !wanted_no_more(*view_, task(other));
  };
  bool any = std::any_of(view_->waiting.begin(), view_->waiting.end(), is_above) ||
             std::any_of(view_->holding.begin(), view_->holding.end(), is_above);
  for (auto other = view_->jobs.rbegin(); other != view_->jobs.rend() && !any; ++other) {
    if ((view_->now - other->submitted_at).value > policy_.dropping->recently) break;
    any = above(*other);
  }
  return any ? policy_.dropping->curve.most_drop(job(id).base().place.loss) : 0;
}

// ---- HEATS' rescheduling ----

void Live::reschedule() {
  for (const TaskId id : view_->holding)
    if (task(id).state == TaskState::running && !wanted_no_more(*view_, task(id))) consider_move(id);
  engine_.end_round();
}

void Live::consider_move(TaskId id) {
  const auto& t = task(id);
  const auto here = cluster_.type_of(t);
  const auto expected = experience_.expect(*view_, t, cluster_, here);
  if (expected.from == Expected::From::nothing) return;
  const auto needs = requirements_of(*view_, t);
  const auto& spec = job(id).base();
  const double done =
      spec.epochs > 0 ? static_cast<double>(t.reported()) / static_cast<double>(spec.epochs) : 0;
  const double rest = spec.program.plain ? left(id) / expected.seconds : 1 - done;
  if (!(rest > 0)) return;
  Engine::MoveFacts facts{*policy_.heats, weight(id), rest};
  facts.options.moves = HeatsOptions::Moves::stateful;  // one process of a task at a time
  if (spec.program.plain) facts.redo = 1 / rest;        // it starts over, so all of it is to be done there
  auto& ranks = ranking(id);
  const auto number = static_cast<std::uint32_t>(id);
  const auto scores = ranks.scores(number, ranks.allowed(needs, all_types_));
  auto move = engine_.better_place_for(number, needs, facts, scores, ranks);
  if (!move) return;
  engine_.keep_for_round(move->type, needs.part, std::move(move->shares));
  out_.push_back(Stop{id, t.attempt,
                      fmt::format("moves from {} to {}, where the rest of it fits better",
                                  cluster_.types[here].name, cluster_.types[move->type].name),
                      true});
}

void Live::wake_again() {
  const double every = policy_.heats->every;
  const Seconds at{(std::floor(view_->now.value / every) + 1) * every};
  if (!view_->open_wakes.contains(at.value)) out_.push_back(Wake{at});
}

}  // namespace tandem::place
