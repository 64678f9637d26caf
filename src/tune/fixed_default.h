// What a tuning job would have taken without tuning its system parameters. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "event/view.h"

namespace tandem::tune {

// The same epochs with fixed cores, the trials one after the other where there is a place, without waiting
// for the others of a rung: predicted from the epochs that were measured. What first epochs of a process took
// longer than later ones is taken not to depend on cores.
struct FixedDefault {
  std::string what;  // "one trial at a time, 2 cores each"
  Seconds tuning;
  std::optional<Seconds> epoch;  // of the best trial's work
  bool measured = true;          // every configuration it needs was measured
};

// The most cores the job may give a trial, and the fewest; nothing for jobs that are not pipelined.
std::vector<FixedDefault> fixed_defaults(const View&, JobId);

}  // namespace tandem::tune
