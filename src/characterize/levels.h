// Tuning at one level or at both (chapter 5.3.3, figure 5.8): the best of a response that hyperparameters
// alone reach, system parameters alone, and both together.
//
// Hyper only: the settings whose system factors are at their usual values. System only: those whose
// hyperparameters are. Both: all. The best of each is that of the mean over replications, with its 95 %
// interval. Both contains the others and so never looks worse; whether it is better is what `p` says (Welch's
// test of the two best settings). The best of many noisy settings looks better than it is, and p does not
// know how many there were. Pure.
#pragma once

#include <array>

#include "characterize/study.h"

namespace tandem::characterize {

enum class Strategy { hyper_only, system_only, both };
inline constexpr std::array kStrategies{Strategy::hyper_only, Strategy::system_only, Strategy::both};
const char* name(Strategy);  // "hyper", "system", "both"

bool belongs(const Study&, const Values& at, Strategy);
// The runs whose settings belong to a strategy; the rest of the study as it is. It may have none.
Study only(const Study&, Strategy);

struct Best {
  Strategy strategy = Strategy::both;
  Values at{};
  Mean mean{};
  std::size_t settings = 0;                // it is the best of so many; 0: none was run
  std::optional<double> both_better_by{};  // how much better both is, as a share of this one's size
  std::optional<double> p{};               // of such a difference by chance; none without replications
};

struct Comparison {
  std::string response;
  std::array<Best, 3> best;  // as kStrategies
};

// One for each response.
std::vector<Comparison> compare_levels(const Study&);

// The probability that two means as far apart come from the same (two-sided); none where one has a single
// observation or nothing varies.
std::optional<double> welch(std::span<const double>, std::span<const double>);

}  // namespace tandem::characterize
