// DiAS' sprinter for jobs whose length is not known: when a job sprints, as time goes by.
//
// A job that has run for its class's timeout sprints until its end, or until the budget for it
// (place/dias/dias_sprint.h) is used up; then it goes on at the base speed to its end, as in the simulator.
// The budget is asked for slices, since nobody knows how long the job will need it: at most one slice is paid
// for and not used, and the next job that sprints in that time has it. Pure: times are told to it, and never
// go back. One owner.
#pragma once

#include <optional>

#include "place/dias/dias_sprint.h"

namespace tandem::bags {

class Sprinter {
 public:
  static constexpr Seconds kSlice{0.02};

  explicit Sprinter(place::SprintBudget budget) : budget_(budget) {}

  void begin(Seconds now, std::optional<Seconds> timeout);  // a job; no timeout: it never sprints
  // Whether the job sprints from now on.
  bool sprints(Seconds now);
  // When `sprints` may answer otherwise; none: not before the next job.
  std::optional<Seconds> ask_again() const { return next_; }

 private:
  void step(Seconds now);

  place::SprintBudget budget_;
  Seconds paid_until_{};
  std::optional<Seconds> next_{};
  bool sprinting_ = false;
  bool last_slice_ = false;  // the budget did not pay for a whole one
};

}  // namespace tandem::bags
