// Ordinary least squares on numbers and factors with interactions (model_matrix.h), and how sure one may be
// of each coefficient.
//
// Columns that depend on earlier ones (a constant, a factor that copies another, combinations without rows,
// more columns than rows) are aliased: they get no coefficient, and the note says on which others they
// depend. Where no degrees of freedom are left, or the model fits exactly, there are no tests: absent, not
// zero. A number's coefficient beside its interactions is its slope where the others are 0, as in R and
// statsmodels: centre numbers first where that is not what is asked. Pure.
#pragma once

#include <optional>

#include "stats/design/model_matrix.h"
#include "stats/numeric/least_squares.h"

namespace tandem::stats {

struct LinearOptions {
  std::size_t order = 1;  // of interactions: 1 none, 2 pairs, ...
  Coding coding = Coding::treatment;
  double level = 0.95;  // of the confidence intervals
};

struct Sureness {
  double error = 0, t = 0, p = 0, low = 0, high = 0;
};

struct Coefficient {
  std::string name;
  double estimate = 0;
  bool aliased = false;
  std::optional<Sureness> sure{};
};

struct LinearModel {
  std::vector<Coefficient> coefficients;  // the first is the intercept, "1"
  std::size_t rows = 0, rank = 0;
  double total_ss = 0, residual_ss = 0;   // around the mean
  std::optional<double> r2, adjusted_r2;  // none where the response never changes
  std::vector<std::string> notes;
  std::size_t residual_df() const { return rows - rank; }
};

// UserError as model_matrix, and for a response or a level that is nonsense.
LinearModel fit_linear(std::span<const Variable>, std::span<const double> response,
                       const LinearOptions& = {});

// Shared with anova.h: UserError where it is empty or not finite; the squares around the mean; the residual
// below which a model fits exactly but for rounding; what is aliased, in words.
void check_response(std::span<const double>);
double squares_around_mean(std::span<const double>);
double exact_below(std::span<const double> response);
std::vector<std::string> alias_notes(const LeastSquares&, const std::vector<std::string>& names);

}  // namespace tandem::stats
