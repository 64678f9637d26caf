// When a job's time is looked at again: limits.time, and a search's budget.time.
//
// Every Woke is heard by all jobs, and each then asks to be woken again. So one that comes before serves, else
// n jobs that wait would have n times as many wakes open after each, and no server survives that.
#pragma once

#include <algorithm>
#include <vector>

#include "event/decision.h"
#include "event/view.h"

namespace tandem::tune {

inline void wake_when_used_up(const View& view, const JobView& job, Seconds left, std::vector<DecisionBody>& out) {
  constexpr Seconds kNobodyAtWork{1};  // what is left does not get less then, however little it is
  const Seconds at = view.now + (job.at_work > 0 ? left : std::max(left, kNobodyAtWork));
  if (!view.open_wakes.empty() && *view.open_wakes.begin() <= at.value) return;
  for (auto& decision : out)
    if (auto* wake = std::get_if<Wake>(&decision)) {
      wake->at = std::min(wake->at, at);
      return;
    }
  out.push_back(Wake{at});
}

}  // namespace tandem::tune
