// How much each parameter alone explains of the variation of a result over trials.
//
// A main effect in the sense of functional ANOVA (Hutter and others, 2014), estimated for few trials: each
// trial's result is predicted from the others by this one parameter (a local line over the ranks of numbers,
// so that scale does not matter; shrunken means of words and flags), and the share is the part of the squared
// deviations that such predictions save. Because no trial predicts itself, a parameter without effect comes
// out near 0 even among ten trials, where binned means or a forest would find something in the noise. What
// only matters together with another parameter is not counted; it is in the rest, with the noise.
//
// A parameter that some trials do not have is judged among those that have it: the difference between having
// and lacking it belongs to whatever decides that. Results far outside (beyond one and a half interquartile
// ranges, Tukey) are pulled to the fence, results that are not finite are left out. Shares are at least 0 and
// sum to at most 1. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/value.h"

namespace tandem::stats {

struct Observation {
  Values at;
  double result = 0;
};

struct Importance {
  std::string name;
  double share = 0;        // of the variation of the result, 0 to 1
  std::size_t trials = 0;  // that have the parameter
  bool operator==(const Importance&) const = default;
};

inline constexpr std::size_t kFewestObservations = 6;

// Largest share first, equal ones by name. Empty with fewer than kFewestObservations finite results. Of more
// than 500 trials an even sample of 500 is used.
std::vector<Importance> importance(std::span<const Observation>);

}  // namespace tandem::stats
