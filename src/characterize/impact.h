// How much each factor moves each response: the heat maps of the characterization chapter (figures 5.6, 5.7).
//
// The chapter (5.3.1, 5.3.2) varies one parameter at a time and takes the difference between the highest and
// the lowest performance it sees, relatively; of what it does not say, here it is the highest. Variations of
// performance (time, throughput) above 20 % are high, from 10 % medium, below low; variations of a model's
// quality above 5 % are high, from 1 % medium, below low. It prints the first pair for platform parameters
// and the second for hyperparameters, because it looks at performance there and at quality here; we go by the
// response, for both kinds of factors.
//
// Ours beside it: means over replications with 95 % intervals, and the probability p of such differences
// among levels that are all alike (analysis of variance), because the highest and the lowest of noisy means
// always differ. Pure.
#pragma once

#include "characterize/study.h"

namespace tandem::characterize {

enum class Grade { low, medium, high };
const char* name(Grade);

struct Thresholds {
  double medium = 0, high = 0;  // shares: medium from, high above
};
inline constexpr Thresholds kPerformance{0.10, 0.20}, kQuality{0.01, 0.05};
Grade grade_of(double variation, const Thresholds&);

struct LevelMean {
  std::string level;
  Mean mean;
};

struct Impact {
  std::string factor, response;
  std::vector<LevelMean> levels{};    // by value; numbers of many values in thirds: "1 to 3.5"
  std::optional<double> variation{};  // (highest - lowest) / highest, by size; none: fewer than two levels
  std::optional<Grade> grade{};
  std::optional<double> p{};  // none where nothing was replicated enough to tell
  // False: the factor was varied alone, the others at their usual values. True: there were no such runs of
  // all its levels, and each level's mean is over whatever the others were.
  bool averaged = false;
  std::string note{};  // why something is missing
};

// Of every factor on every response: the first response's factors, then the second's.
std::vector<Impact> impacts(const Study&);

}  // namespace tandem::characterize
