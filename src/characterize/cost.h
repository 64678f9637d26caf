// What runs cost, and which settings are good enough, fast and cheap (chapter 5.3.4, figures 5.9 and 5.10).
//
// The chapter's prices: an instance of 8 cores for $0.46 an hour, and $0.05 for each GB (10^9 bytes) sent
// out. Cores and time are charged pro rata. Pure.
#pragma once

#include "characterize/levels.h"

namespace tandem::characterize {

struct Prices {
  double dollars_per_hour = 0.46, cores = 8;  // of an instance
  double dollars_per_gb_out = 0.05;
};
// UserError where a number is negative or not finite, or an instance has no cores.
double dollars(double seconds, double cores, double bytes_out, const Prices& = {});

// "At least 80 % of accuracy with the shortest possible training, and the cheapest": names of responses of
// the study.
struct Threefold {
  std::string quality, time, cost;
  double quality_at_least = 0;  // for a quality where less is better (an error): at most
};

struct Candidate {
  Values at;
  Mean quality, time, cost;
};

struct ThreefoldAnswer {
  std::size_t settings = 0;                 // that have all three responses
  std::size_t good_enough = 0;              // of those, by their mean
  std::optional<Candidate> best_quality{};  // of all settings: the nearest miss where none is good enough
  std::optional<Candidate> fastest{}, cheapest{};  // of those that are good enough
  // Of those that are good enough: the one with the smallest product of time and cost, which no other beats
  // in both; where the fastest is the cheapest it is that one.
  std::optional<Candidate> compromise{};
  std::vector<Candidate> front{};  // good enough, and none is both faster and cheaper; fastest first
};

// UserError: no such response, or two of them are the same.
ThreefoldAnswer threefold(const Study&, const Threefold&, Strategy = Strategy::both);

}  // namespace tandem::characterize
