// The trials that ran equally long, and how they compare: what a schedule promotes from.
//
// Trials that failed on their way to the rung, or while they waited on it, have no losses but count: they are
// the worst. Among equal losses of one goal the lower trial is before the higher. A plain value.
#pragma once

#include <cstdint>
#include <vector>

#include "search/searcher.h"

namespace tandem::search {

class Rung {
 public:
  // It reached the rung; a second report replaces the first.
  void report(TrialId, const Losses&);
  // It never will, or it did and failed since.
  void lose(TrialId);

  std::int64_t size() const;                // reported and lost
  std::vector<TrialId> best_first() const;  // those that reported, ranked as pareto.h does
  // How many of the rung are before this one, and stay so whoever else reports.
  std::int64_t ahead_of(TrialId) const;

 private:
  struct Entry {
    TrialId trial;
    Losses losses;
    std::int64_t ahead;
  };
  void remove(TrialId);

  std::vector<Entry> entries_;  // by trial
  std::int64_t lost_ = 0;
};

}  // namespace tandem::search
