// Linear in the columns and in their products: the regressions `anova`, `ridge` and `lasso`.
//
//   anova   ordinary least squares with all interactions, as Courier 4.1; products that depend on simpler
//           ones get no coefficient (least_squares.h)
//   ridge   with the products of pairs, and slopes kept small (penalised.h); how small is chosen by
//           cross-validation
//   lasso   the same, and useless products left out
//
// The order of interactions is lowered until there are at least two rows a term, and at most kMostTerms
// terms, but not below 1: what cannot be told from noise is not fitted. Columns are standardised before they
// are multiplied, which does not change what least squares predict. Beyond what was seen all of them go on in
// straight lines. Pure.
#pragma once

#include "stats/regression/regression.h"

namespace tandem::stats {

inline constexpr std::size_t kMostTerms = 128;

std::unique_ptr<Regression> make_anova(const std::vector<std::string>& columns);
std::unique_ptr<Regression> make_ridge(const std::vector<std::string>& columns);
std::unique_ptr<Regression> make_lasso(const std::vector<std::string>& columns);
const std::vector<RegressionOption>& anova_options();
const std::vector<RegressionOption>& penalised_options();

}  // namespace tandem::stats
