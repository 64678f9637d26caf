// The half of the simulated world in which time passes.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "sim/world/world.h"

namespace tandem::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kArrivalsAtOnce = 256;  // an event is about a kilobyte, whatever is in it
constexpr int kInVain = 1000;
constexpr Resources kNothing{0, 0, 1.0};

bool is_finite(const Metrics& metrics) {
  return std::all_of(metrics.begin(), metrics.end(),
                     [](const auto& item) { return std::isfinite(item.second); });
}

}  // namespace

// ---- the clock ----

double World::next_time() const {
  double next = kNever;
  if (!programs_next_.empty()) next = std::min(next, programs_next_.first_time());
  if (!wakes_.empty()) next = std::min(next, wakes_.top().first);
  if (const auto arrives = options_.arrivals ? options_.arrivals->next() : std::nullopt)
    next = std::min(next, arrives->value);
  const bool pause = options_.failures.endless() && repairs_ == 0 && nothing_to_do();
  if (!background_next_.empty()) next = std::min(next, background_next_.first_time());
  if (!nodes_next_.empty() && !pause) next = std::min(next, nodes_next_.first_time());
  return next;
}

std::vector<Event> World::wait(Seconds at_most) {
  if (!pending_.empty()) return std::exchange(pending_, {});
  const double until = now_.value + std::max(at_most.value, 0.0);
  double next = next_time();
  for (; next <= until && std::isfinite(next); next = next_time()) {
    now_.value = std::max(now_.value, next);
    happen();
    in_vain_ = 0;
    if (!pending_.empty()) return std::exchange(pending_, {});
  }
  if (std::isfinite(until)) now_.value = until;
  if (!std::isfinite(next) && !options_.open_ended && ++in_vain_ > kInVain)
    throw SystemError(
        "nothing will happen any more in the simulated cluster: no program is at work, and no job, wake or "
        "repair is to come. What still waits asks for more than the nodes have, or no policy answers it");
  return {};
}

// All of this moment; what happens to nodes comes alone.
void World::happen() {
  while (!nodes_next_.empty() && nodes_next_.first_time() <= now_.value)
    happens_to_node(static_cast<NodeId>(nodes_next_.pop()));
  while (!background_next_.empty() && background_next_.first_time() <= now_.value)
    background_changes(static_cast<NodeId>(background_next_.pop()));
  if (!pending_.empty()) return;
  while (!programs_next_.empty() && programs_next_.first_time() <= now_.value)
    happens_to(attempts_[programs_next_.pop()]);
  for (; !wakes_.empty() && wakes_.top().first <= now_.value; wakes_.pop()) say(Woke{wakes_.top().second});
  for (std::size_t i = 0; i < kArrivalsAtOnce && !all_arrived() && *options_.arrivals->next() <= now_; ++i)
    say(options_.arrivals->take());
}

// ---- programs ----

void World::begin(Attempted& a, Doing doing, Seconds lasts) {
  a.doing = doing;
  a.doing_since = now_;
  a.done = 0;
  draw_power(a);
  plan(a, now_ + lasts);
}

void World::plan(Attempted& a, Seconds end) {
  const Slot slot = slot_of(a);
  a.stalls = !a.told_to_stop && a.stall_at < end;
  const double next = (a.stalls ? a.stall_at : end).value;
  if (std::isfinite(next))
    programs_next_.set(slot, next);
  else if (programs_next_.contains(slot))
    programs_next_.erase(slot);
}

void World::happens_to(Attempted& a) {
  if (a.stalls) {
    fail(
        a, Failure::stalled,
        fmt::format("no report for {}; raise limits.stall if its epochs are that long", text(a.stall_after)));
    return;
  }
  switch (a.doing) {
    case Doing::starting:
      ready(a);
      break;
    case Doing::saving:
      say(CheckpointTaken{a.task, a.number, *std::exchange(a.checkpoint_asked, std::nullopt), a.last_epoch});
      go_on(a);
      break;
    case Doing::training:
      epoch_over(a);
      break;
    case Doing::ending:
      exited(a);
      break;
    case Doing::waiting:
      assert(false);  // nothing happens to it until it is answered
      break;
  }
}

void World::ready(Attempted& a) {
  if (!a.program.cannot_start.empty()) {
    fail(a, Failure::could_not_start, a.program.cannot_start);
    return;
  }
  a.startup = now_ - a.stretch_from;
  a.keeps_checkpoints = a.program.keeps_checkpoints;
  a.stall_at = now_ + a.stall_after;
  go_on(a);
}

void World::go_on(Attempted& a) {
  if (a.told_to_stop) {
    begin(a, Doing::ending, std::min(a.program.ending, options_.grace));
  } else if (!a.plain && a.last_epoch >= a.epochs) {
    begin(a, Doing::ending, a.program.ending);
  } else if (a.granted().memory > 0 && a.epoch.memory > a.granted().memory) {
    fail(a, Failure::out_of_memory,
         fmt::format(
             "it needed more than its memory limit of {}; raise system.memory, or make batches smaller",
             text_bytes(a.granted().memory)));
  } else {
    begin(a, Doing::training, a.epoch.seconds);
  }
}

void World::epoch_over(Attempted& a) {
  if (a.epoch.then == ProgramEpoch::Then::fails) {
    fail(a, a.epoch.failure, a.epoch.detail);
  } else if (a.epoch.then == ProgramEpoch::Then::exits || a.plain) {
    exited(a);
  } else if (!is_finite(a.epoch.metrics)) {
    fail(a, Failure::bad_report, "it reported a metric that is no number (NaN, or infinite)");
  } else {
    ++a.last_epoch;
    a.first_report = false;
    auto energy = energy_since_report(a);
    say(EpochEnded{a.task, a.number, a.last_epoch, std::move(a.epoch.metrics), now_ - a.stretch_from,
                   std::move(energy), Profile{std::move(a.epoch.rates)},
                   std::exchange(a.startup, Seconds{})});
    a.doing = Doing::waiting;
    draw_power(a);
  }
}

void World::exited(Attempted& a) {
  if (!a.told_to_stop && !a.plain && std::max(a.last_epoch, a.counted_before) == 0)
    fail(a, Failure::silent,
         "it exited without having reported an epoch; does it call tandem.report() or `tandem tell`?");
  else
    end(a);
}

void World::fail(Attempted& a, Failure failure, const std::string& detail) {
  say(TaskFailed{a.task, a.number, failure, detail, "", energy_since_report(a)});
  release(a);
}

void World::end(Attempted& a) {
  say(TaskEnded{a.task, a.number, energy_since_report(a)});
  release(a);
}

// ---- power ----

void World::draw_power(Attempted& a) {
  const double busy = a.doing == Doing::training ? a.epoch.busy * a.cores() : 1;
  for (auto& part : a.parts) {
    const NodeGroup& group = group_of(part.node);
    if (!group.power) continue;
    NodePower& power = node_of(part).power;
    if (a.doing == Doing::waiting || a.cores() == 0)
      part.claim.rest(power, now_);
    else
      part.claim.work(power, {busy, group.power->added(busy, group.capacity.cores, a.granted().speed)}, now_);
  }
}

std::optional<Energy> World::energy_since_report(Attempted& a) {
  Joules drawn;
  bool known = true;  // on all of its nodes
  for (auto& part : a.parts) {
    drawn += part.claim.take(node_of(part).power, now_);
    known &= group_of(part.node).power.has_value();
  }
  if (known) return Energy{drawn, energy_sources_[node_of(a.parts.front()).group]};
  if (!a.epoch.energy || a.doing != Doing::training) return std::nullopt;
  const double share = std::clamp(a.progress(now_), 0.0, 1.0);
  return Energy{a.epoch.energy->joules * share, a.epoch.energy->source};
}

Joules World::joules() {
  Joules sum;
  for (auto& node : nodes_) sum += node.power.joules(now_);
  return sum;
}

Joules World::unclaimed() {
  Joules sum;
  for (auto& node : nodes_) sum += node.power.unclaimed(now_);
  return sum;
}

// ---- nodes ----

void World::plan_outage(NodeId id) {
  const auto outage = options_.failures.next(id, now_);
  if (!outage) return;
  nodes_[static_cast<std::size_t>(id)].outage = *outage;
  nodes_next_.set(static_cast<Heap::Item>(id), outage->from.value);
}

void World::happens_to_node(NodeId id) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (!node.up) {
    node.up = true;
    --repairs_;
    node.power.turn(true, now_);
    say(joined(id, group_of(id).capacity));
    if (node.background > 0) say(NodeObserved{id, group_of(id).background[node.background - 1].load});
    plan_outage(id);
  } else if (options_.failures.endless() && (nothing_to_do() || node.outage.from < now_)) {
    plan_outage(id);  // failures pause, or did when this one was due
  } else {
    lose(id);
  }
}

void World::plan_background(NodeId id) {
  const auto& all = group_of(id).background;
  const std::size_t next = nodes_[static_cast<std::size_t>(id)].background;
  if (next < all.size())
    background_next_.set(static_cast<Heap::Item>(id), (options_.start + all[next].after).value);
}

void World::background_changes(NodeId id) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  const auto& now = group_of(id).background[node.background++];
  if (node.up) say(NodeObserved{id, now.load});
  plan_background(id);
}

void World::lose(NodeId id) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  node.up = false;
  say(joined(id, kNothing));
  auto there = node.tasks;
  std::sort(there.begin(), there.end(),
            [&](Slot a, Slot b) { return attempts_[a].task < attempts_[b].task; });
  for (const Slot slot : there) {
    if (attempts_[slot].told_to_stop)
      end(attempts_[slot]);
    else
      fail(attempts_[slot], Failure::lost, name_of(id) + " went down");
  }
  node.power.turn(false, now_);
  if (!std::isfinite(node.outage.until.value)) return;
  ++repairs_;
  nodes_next_.set(static_cast<Heap::Item>(id), node.outage.until.value);
}

}  // namespace tandem::sim
