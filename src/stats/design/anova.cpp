#include "stats/design/anova.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "stats/design/linear_model.h"
#include "stats/numeric/distributions.h"

namespace tandem::stats {
namespace {

bool contains(const ModelTerm& whole, const ModelTerm& part) {
  return std::includes(whole.of.begin(), whole.of.end(), part.of.begin(), part.of.end());
}

// The model of some of the terms.
template <class Wanted>
LeastSquares fit_terms(const ModelMatrix& matrix, std::span<const double> response, Wanted wanted) {
  std::vector<const std::vector<double>*> columns;
  for (const auto& term : matrix.terms)
    if (wanted(term))
      for (std::size_t c = 0; c < term.count; ++c) columns.push_back(&matrix.columns[term.first + c]);
  return least_squares(columns, response);
}

struct Gain {
  double squares = 0;
  std::size_t df = 0;
};

Gain gain(const LeastSquares& without, const LeastSquares& with) {
  return {std::max(0.0, without.residual_ss - with.residual_ss), with.rank - without.rank};
}

Gain in_order(const ModelTerm& term, const LeastSquares& whole) {
  Gain out;
  for (std::size_t c = term.first; c < term.first + term.count; ++c) {
    out.squares += whole.effects[c] * whole.effects[c];
    ++out.df;
  }
  for (const auto& dependent : whole.dependent)
    if (dependent.column >= term.first && dependent.column < term.first + term.count) --out.df;
  return out;
}

Gain gain_of(const ModelTerm& term, const ModelMatrix& matrix, const LeastSquares& whole,
             std::span<const double> response, int type) {
  if (type == 1) return in_order(term, whole);
  if (type == 3)
    return gain(fit_terms(matrix, response, [&](const ModelTerm& other) { return other.of != term.of; }),
                whole);
  const auto without =
      fit_terms(matrix, response, [&](const ModelTerm& other) { return !contains(other, term); });
  const auto with = fit_terms(matrix, response, [&](const ModelTerm& other) {
    return other.of == term.of || !contains(other, term);
  });
  return gain(without, with);
}

void add_notes(AnovaTable& table, const ModelMatrix& matrix, const LeastSquares& whole, bool exact) {
  table.notes = matrix.notes;
  for (auto& note : alias_notes(whole, matrix.names)) table.notes.push_back(std::move(note));
  if (table.residual_df == 0)
    table.notes.push_back(
        "as many coefficients as rows: nothing is left to judge by; replicate, or take a lower "
        "order of interactions");
  else if (exact)
    table.notes.push_back("the model fits exactly: there is no noise to judge by");
  if (table.type == 3 && !whole.dependent.empty())
    table.notes.push_back("type 3 means little where combinations have no rows: prefer type 2");
}

}  // namespace

const AnovaRow* AnovaTable::find(const std::string& term) const {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const AnovaRow& r) { return r.term == term; });
  return found == rows.end() ? nullptr : &*found;
}

AnovaTable anova(std::span<const Variable> variables, std::span<const double> response,
                 const AnovaOptions& options) {
  check_response(response);
  if (options.type < 1 || options.type > 3)
    throw UserError(fmt::format("there is no analysis of variance of type {}: 1, 2 or 3", options.type));
  const auto matrix = model_matrix(variables, response.size(), options.order, Coding::sum);
  const auto whole = fit_terms(matrix, response, [](const ModelTerm&) { return true; });
  AnovaTable out{.type = options.type};
  out.residual_ss = whole.residual_ss, out.total_ss = squares_around_mean(response);
  out.residual_df = response.size() - whole.rank;
  const bool exact = whole.residual_ss <= exact_below(response);
  const bool constant = out.total_ss <= exact_below(response);
  add_notes(out, matrix, whole, exact);
  for (const auto& term : matrix.terms) {
    if (term.of.empty()) continue;
    const auto [squares, df] = gain_of(term, matrix, whole, response, options.type);
    AnovaRow row{term.name, squares, df};
    if (!constant) row.share = squares / out.total_ss;
    if (df > 0 && out.residual_df > 0 && !exact) {
      const auto above = static_cast<double>(df), below = static_cast<double>(out.residual_df);
      row.f = squares / above / (out.residual_ss / below);
      row.p = f_tail(*row.f, above, below);
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace tandem::stats
