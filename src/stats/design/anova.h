// Analysis of variance: how much of a response's variation each factor and each interaction explains.
//
//   type 1   in the order written: what a term adds to those before it
//   type 2   what a term adds to all terms that do not contain it; the usual choice, balanced or not
//   type 3   what a term adds to all others, with sum coding; for unbalanced data with interactions, where
//            every combination has rows
//
// Of factors in a balanced design all agree. F compares with the residual of the whole model. Where no
// degrees of freedom are left, the model fits exactly, or a term has none of its own, F and p are absent;
// notes say why. Pure.
#pragma once

#include <optional>

#include "stats/design/model_matrix.h"

namespace tandem::stats {

struct AnovaOptions {
  int type = 2;
  std::size_t order = 2;  // of interactions
};

struct AnovaRow {
  std::string term;
  double sum_of_squares = 0;
  std::size_t df = 0;
  std::optional<double> f{}, p{};
  double share = 0;  // of the total sum of squares; 0 where the response never changes
};

struct AnovaTable {
  int type = 2;
  std::vector<AnovaRow> rows;
  double residual_ss = 0, total_ss = 0;
  std::size_t residual_df = 0;
  std::vector<std::string> notes;
  const AnovaRow* find(const std::string& term) const;  // nullptr: no such
};

// UserError as model_matrix, and for a type or a response that is nonsense.
AnovaTable anova(std::span<const Variable>, std::span<const double> response, const AnovaOptions& = {});

}  // namespace tandem::stats
