// What a tuning job would have taken without tuning its system parameters. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "event/view.h"

namespace tandem::tune {

// The same epochs with fixed cores and no gaps between trials: predicted from the epochs that were measured.
struct FixedDefault {
  std::string what;  // "one trial at a time, 2 cores each"
  Seconds tuning;
  std::optional<Seconds> epoch;  // of the best trial's work
  bool measured = true;          // every configuration it needs was measured
};

// The most cores the job may give a trial, and the fewest; nothing for jobs that are not pipelined.
std::vector<FixedDefault> fixed_defaults(const View&, JobId);

}  // namespace tandem::tune
