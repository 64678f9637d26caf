// A policy through all recurrences of a job, and what that cost beside always running the best cell.
#pragma once

#include "bench/zeus/policies.h"

namespace tandem::bench {

struct Regret {
  double cost = 0, joules = 0, seconds = 0;  // in runs of the best cell
  double given_up = 0;                       // recurrences that never reached the target in so many tries

  Regret& operator+=(const Regret&);
  Regret operator/(double) const;
};

// As many as Zeus' authors take: each cell of the grid twice.
std::int64_t recurrences(const Workload&);

// `worlds`: one after the other for an equal share of the recurrences. Luck is the seed's: the same for every
// policy that runs the same batch size at the same try of a recurrence.
Regret replay(const std::vector<Workload>& worlds, const PolicyMaker&, std::uint64_t seed);

}  // namespace tandem::bench
