// Jobs that come and go: when each of some jobs ends, where each one's speed depends on how many run.
//
// Event by event: between two changes all rates are constant; the next change is the first end or arrival.
// So the ends of the jobs that run now follow from the load, and the load from the ends. Pure.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/history.h"

namespace tandem::advise {

struct LoadedJob {
  std::string id;
  int cores = 1;
  double left = 1;                           // share of its work that is left, (0, 1]
  Seconds arrives;                           // from now; 0 or less: it runs already
  std::function<double(const Load&)> whole;  // seconds that the whole job takes under this load all along
  std::optional<Seconds> deadline;           // from now
};

struct LoadedEnd {
  std::string id;
  Seconds at;        // from now
  LoadProfile seen;  // the load while it ran, from its arrival on
};

// In the order given. UserError: a job whose time is not positive and finite, or with nothing left.
std::vector<LoadedEnd> ends_under_load(std::span<const LoadedJob>);

struct Threatened {
  std::string id;
  Seconds deadline, without, with;  // from now: its end if the new job does not come, and if it does
  bool anyway = false;              // it would miss its deadline even alone
};

// Which of the running jobs miss their deadline when `joining` comes.
std::vector<Threatened> threatened_by(const LoadedJob& joining, std::span<const LoadedJob> running);

}  // namespace tandem::advise
