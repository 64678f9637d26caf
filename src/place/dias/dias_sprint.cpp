#include "place/dias/dias_sprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"

namespace tandem::place {

double PowerStates::sprint_speed() const {
  return 1 / (1 - cpu_share + cpu_share * base_hz / sprint_hz);
}

void check(const PowerStates& states, const std::string& where) {
  if (!(states.base_hz > 0 && states.sprint_hz >= states.base_hz))
    throw UserError(fmt::format("{}: sprinting at {} from {}: it must be faster, and both above 0", where,
                                text_frequency(states.sprint_hz), text_frequency(states.base_hz)));
  if (!(states.base.value >= 0 && states.idle.value >= 0 && states.sprint >= states.base))
    throw UserError(fmt::format("{}: {} at the base clock and {} sprinting: sprinting cannot take less",
                                where, text(states.base), text(states.sprint)));
  if (!(states.cpu_share >= 0 && states.cpu_share <= 1))
    throw UserError(
        fmt::format("{}: a share of {} depends on the clock; from 0 to 1", where, states.cpu_share));
}

Watts refill_for(const PowerStates& states, Seconds sprinting_an_hour) {
  return states.extra() * (sprinting_an_hour.value / 3600);
}

Joules SprintBudget::left(Seconds now) const {
  assert(limit_ && now >= at_);
  return std::min(limit_->most, left_ + limit_->refill * (now - at_));
}

Seconds SprintBudget::spend(Seconds now, Seconds wanted) {
  if (!limit_) return wanted;
  left_ = left(now);
  const Watts drain = extra_ - limit_->refill;  // it refills while it is spent
  if (drain.value <= 0) {
    at_ = now;  // comes back as fast as it goes
    return wanted;
  }
  const Seconds lasts = std::min(wanted, Seconds{left_.value / drain.value});
  left_ = std::max(Joules{0}, left_ - drain * lasts);
  at_ = now + lasts;
  return lasts;
}

SprintedRun sprinted_run(SprintBudget& budget, Seconds now, Seconds work, Seconds timeout, double speed) {
  if (work <= timeout) return {work, {}};
  const Seconds rest = work - timeout;
  const Seconds sprints = budget.spend(now + timeout, rest / speed);
  return {timeout + sprints + (rest - sprints * speed), sprints};
}

}  // namespace tandem::place
