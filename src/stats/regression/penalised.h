// Least squares that keep slopes small: ridge (squares) and lasso (absolute values, which leaves columns
// out).
//
// Minimises  1/(2n) |y - c - Xb|^2 + lambda (|b|^2 / 2  or  |b|_1)  over standardised columns (mean 0,
// deviation 1); the constant is free. scikit-learn's Ridge(alpha) on such columns is lambda = alpha / n, its
// Lasso(alpha) is lambda = alpha. Solved by coordinate descent over the columns' correlations, so the work
// grows with the rows only once. Columns that never change have slope 0. Pure; deterministic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::stats {

enum class Penalty { ridge, lasso };

struct PenalisedFit {
  double constant = 0;
  std::vector<double> slopes{};  // of the columns as they were given
};

using Columns = std::vector<std::vector<double>>;  // each as long as the targets

PenalisedFit fit_penalised(const Columns&, std::span<const double> targets, Penalty, double lambda);

// Strongest first: from where (nearly) all slopes are 0 down to nearly none, evenly by logarithm.
std::vector<double> penalty_path(const Columns&, std::span<const double> targets, Penalty);

// The lambda of the path that predicts best what was left out, over ten folds (fewer of fewer rows) dealt
// from the seed; of fewer than three rows the strongest.
double choose_lambda(const Columns&, std::span<const double> targets, Penalty, std::uint64_t seed = 1);

}  // namespace tandem::stats
