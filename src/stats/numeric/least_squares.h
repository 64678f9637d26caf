// Least squares by orthogonalising columns one after another.
//
// The order is kept, unlike with a QR that pivots by size: of columns that say the same the earlier one stays
// and the later one is set aside, and what each column adds to those before it can be read off (`effects`).
// Orthogonalised twice, which is as exact as Householder's reflections. Pure.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace tandem::stats {

struct Dependent {
  std::size_t column = 0;
  std::vector<std::pair<std::size_t, double>>
      on{};  // column = sum of factor times column; none: it is all zero
};

// All vectors are over the columns given; what was set aside has zeros there.
struct LeastSquares {
  std::vector<double> coefficients;
  std::vector<double> effects;       // squared: what the column adds to the sum of squares explained
  std::vector<double> spread;        // times the residual deviation: a coefficient's standard error
  std::vector<Dependent> dependent;  // columns set aside, in order
  std::size_t rank = 0;
  double residual_ss = 0;
};

LeastSquares least_squares(const std::vector<const std::vector<double>*>& columns,
                           std::span<const double> response);

}  // namespace tandem::stats
