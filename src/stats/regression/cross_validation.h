// How well a regression predicts what it has not seen: k-fold cross-validation, which columns matter to it,
// and which options suit the data.
//
// Rows are dealt into folds at random, from a seed; each fold is predicted by a model that learnt from all
// the others. Rows of one group (replications of a run, placements that are the same but for their order)
// never stand on both sides. Metrics are of all held-out predictions of a deal together, not of each fold:
// folds of five rows have no R². Deterministic; pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stats/regression/regression.h"

namespace tandem::stats {

struct Examples {
  std::span<const double> rows{};  // row after row
  std::span<const double> targets{};
  std::size_t columns = 0;
};

// A fresh model, as often as one is asked for; all alike.
using MakeRegression = std::function<std::unique_ptr<Regression>()>;
MakeRegression maker(const std::string& name, const std::vector<std::string>& columns);

struct Folding {
  std::size_t folds = 10;               // at most as many as there are rows, or groups
  std::uint64_t seed = 1;               // another one deals anew: that is how it is repeated
  std::vector<std::uint32_t> groups{};  // one number a row; empty: every row stands for itself
};

// The fold of each row; sizes differ by one at most, or by a group. UserError: fewer than two folds can be
// made.
std::vector<std::size_t> deal_folds(std::size_t rows, const Folding&);

// One prediction a row, by a model that had not seen its fold.
std::vector<double> cross_predict(const MakeRegression&, const Examples&, const Folding& = {});

struct Metrics {
  double r2 = 0;          // 1 - squared errors / squared deviations from the mean; NaN where nothing deviates
  double mse = 0;         // mean squared error
  double mape = 0;        // mean of |error| / |truth|; infinite where a truth of 0 was missed
  double median_ape = 0;  // median of the same
};
// UserError: none, or not equally many.
Metrics metrics(std::span<const double> truth, std::span<const double> predicted);
Metrics mean(std::span<const Metrics>);  // of each number; at least one

// So often with the seeds from `folding.seed` on.
std::vector<Metrics> repeated_metrics(const MakeRegression&, const Examples&, Folding folding,
                                      std::size_t repeats);

// For each column: by how much R² of held-out predictions falls when the column's values are dealt to other
// rows. About 0: the model does not need it. Two columns that say the same hide each other.
std::vector<double> permutation_importance(const MakeRegression&, const Examples&, const Folding& = {});

struct GridOption {
  std::string name;
  std::vector<double> values;
};
struct GridPoint {
  std::string regression;  // "forest:trees=100:depth=6"
  double mse = 0;
};
// What is usually worth trying of "forest" and "boosting"; empty for others.
std::vector<GridOption> usual_grid(const std::string& regression);
// Every combination, the least mean squared error first, ties in the order tried. UserError as
// `make_regression`.
std::vector<GridPoint> grid_search(const std::string& regression, const std::vector<std::string>& columns,
                                   const std::vector<GridOption>&, const Examples&, const Folding& = {});

}  // namespace tandem::stats
