// Box plots of responses by phase (chapter 5.2.5, figures 5.1 to 5.3), and whether the method or the data
// makes the difference (5.2.6, figures 5.4 and 5.5). Pure.
#pragma once

#include "characterize/study.h"

namespace tandem::characterize {

// Between the order statistics, linearly (R's type 7, numpy's default); `sorted` has at least one value.
double quantile(std::span<const double> sorted, double share);

struct Box {
  std::size_t count = 0;
  double lowest = 0, low = 0, median = 0, high = 0, highest = 0;  // low and high: quartiles
  double whisker_low = 0, whisker_high = 0;  // the furthest values within 1.5 interquartile ranges (Tukey)
  std::vector<double> outside{};             // beyond the whiskers, ascending
};
Box box_of(std::vector<double> values);  // of at least one

struct PhaseBox {
  std::string phase, response, unit;
  Box box;  // over all runs that have the response
};
// By phase in the order first met, then as the study lists responses; without those that no run has.
std::vector<PhaseBox> boxes(const Study&);

// The chapter's finding: the same method on other data varies by orders of magnitude, other methods on the
// same data much less. Here: the standard deviation within groups, pooled, of the logarithm to base 10 where
// all values are positive (so 1 is an order of magnitude), else of the values.
struct Spread {
  std::map<std::string, Box> groups;  // by the group's name
  std::optional<double> within{};     // none: no group holds two workloads
};
struct Variability {
  std::string response;
  bool orders_of_magnitude = false;
  Spread method, dataset;  // within the same method (over datasets); within the same dataset (over methods)
};
// Each workload (method and dataset) counts once, by its median. UserError: no such response.
Variability variability(const Study&, const std::string& response);

}  // namespace tandem::characterize
