// DiAS: sprinting. A job that has run for its timeout is served faster, at more power, until it ends or the
// budget for it is used up; the budget refills all the time, up to its size.
//
// The budget counts the joules a sprint takes beyond the usual power. Plain values and pure functions; times
// given to a budget never go back. One owner.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"

namespace tandem::place {

struct PowerStates {
  double base_hz = 0.8e9, sprint_hz = 2.4e9;
  Watts base{180}, sprint{270};  // while a job runs
  Watts idle{0};                 // while none does
  double cpu_share = 0.9;        // of a job's time at the base clock that a faster clock shortens

  // How many times as fast a job runs when it sprints.
  double sprint_speed() const;
  Watts extra() const { return sprint - base; }
};
void check(const PowerStates&, const std::string& where);  // UserError

struct SprintLimit {
  Joules most{};   // the budget when full, and at the beginning
  Watts refill{};  // joules a second that come back
};
// So many seconds of sprinting an hour come back.
Watts refill_for(const PowerStates&, Seconds sprinting_an_hour);

class SprintBudget {
 public:
  explicit SprintBudget(std::optional<SprintLimit> limit, Watts extra) : limit_(limit), extra_(extra) {
    if (limit_) left_ = limit_->most;
  }

  Joules left(Seconds now) const;
  // Sprints from now on for the wanted time, or as long as the budget lasts; returns how long that is.
  Seconds spend(Seconds now, Seconds wanted);

 private:
  std::optional<SprintLimit> limit_;  // none: without end
  Watts extra_;
  Joules left_{};
  Seconds at_{};
};

// When a job that runs alone ends, and how long it sprinted.
struct SprintedRun {
  Seconds takes{}, sprints{};
};
SprintedRun sprinted_run(SprintBudget&, Seconds now, Seconds work, Seconds timeout, double speed);

}  // namespace tandem::place
