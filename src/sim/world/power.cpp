#include "sim/world/power.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace tandem::sim {
namespace {

constexpr double kNobody = 1e-9;  // busy cores: what rounding may leave behind

}  // namespace

Watts PowerModel::added(double cores, int all, double speed) const {
  double below = 0, above = 1, low = idle.value, high = busy.value;
  for (const Step& step : steps) {
    if (step.speed > speed) {
      above = step.speed;
      high = step.busy.value;
      break;
    }
    below = step.speed;
    low = step.busy.value;
  }
  const double whole = low + (high - low) * (speed - below) / (above - below);
  return {(whole - idle.value) * cores / all};
}

std::string PowerModel::source() const {
  return fmt::format("simulated (idle {}, busy {})", text(idle), text(busy));
}

void check(const PowerModel& model, const std::string& where) {
  const auto usable = [](Watts watts) { return std::isfinite(watts.value) && watts.value >= 0; };
  if (!usable(model.idle) || !usable(model.busy) || model.busy < model.idle)
    throw UserError(
        fmt::format("{}: idle power of {} and busy power of {}; neither may be below 0, nor busy below idle",
                    where, text(model.idle), text(model.busy)));
  double before = 0;
  for (const auto& step : model.steps) {
    if (!(step.speed > before) || !(step.speed < 1))
      throw UserError(fmt::format("{}: clock step {}; steps are shares of the full clock, below 1 and rising",
                                  where, step.speed));
    if (!usable(step.busy) || step.busy < model.idle)
      throw UserError(fmt::format("{}: {} at clock step {}; that is less than its idle power of {}", where,
                                  text(step.busy), step.speed, text(model.idle)));
    before = step.speed;
  }
}

void NodePower::advance(Seconds now) {
  assert(now >= at_);
  const Seconds span = now - std::exchange(at_, now);
  if (!on_) return;
  joules_ += (idle_ + added_) * span;
  if (cores_ > kNobody)
    idle_a_core_ += (idle_ * span) / cores_;
  else
    unclaimed_ += idle_ * span;
}

void NodePower::add(const Load& load, Seconds now) {
  advance(now);
  ++loads_;
  cores_ += load.cores;
  added_ += load.added;
}

void NodePower::remove(const Load& load, Seconds now) {
  advance(now);
  assert(loads_ > 0);
  --loads_;
  cores_ -= load.cores;
  added_ -= load.added;
  // Rounding must not leave a load that nobody has.
  if (loads_ == 0) {
    cores_ = 0;
    added_ = {};
  }
}

void NodePower::turn(bool on, Seconds now) {
  assert(loads_ == 0);
  advance(now);
  on_ = on;
}

Joules NodePower::joules(Seconds now) {
  advance(now);
  return joules_;
}

Joules NodePower::unclaimed(Seconds now) {
  advance(now);
  return unclaimed_;
}

Joules NodePower::idle_a_core(Seconds now) {
  advance(now);
  return idle_a_core_;
}

void Claim::settle(NodePower& node, Seconds now) {
  if (!works_) return;
  const Joules idle = node.idle_a_core(now);
  joules_ += load_.added * (now - since_) + (idle - idle_since_) * load_.cores;
  since_ = now;
  idle_since_ = idle;
}

void Claim::work(NodePower& node, const NodePower::Load& load, Seconds now) {
  rest(node, now);
  node.add(load, now);
  load_ = load;
  works_ = true;
  since_ = now;
  idle_since_ = node.idle_a_core(now);
}

void Claim::rest(NodePower& node, Seconds now) {
  if (!works_) return;
  settle(node, now);
  node.remove(load_, now);
  works_ = false;
}

Joules Claim::take(NodePower& node, Seconds now) {
  settle(node, now);
  return std::exchange(joules_, Joules{});
}

}  // namespace tandem::sim
