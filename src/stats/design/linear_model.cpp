#include "stats/design/linear_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "stats/numeric/distributions.h"

namespace tandem::stats {
namespace {

constexpr double kLargest = 1e100;  // and its inverse: so that squares and their sums are numbers
constexpr std::size_t kNamed = 4;   // columns that a note names

std::string said(const Dependent& dependent, const std::vector<std::string>& names) {
  const auto& name = names[dependent.column];
  if (dependent.on.empty()) return fmt::format("no row has {}: left out", name);
  if (dependent.on.size() == 1 && dependent.on[0].first == 0)
    return fmt::format("{} never changes: left out", name);
  std::vector<std::string> others;
  for (const auto& [column, factor] : dependent.on) {
    if (column == 0) continue;
    others.push_back(std::abs(factor - 1) < 1e-6 ? names[column]
                                                 : fmt::format("{:.4g} {}", factor, names[column]));
  }
  const std::size_t more = others.size() > kNamed ? others.size() - kNamed : 0;
  others.resize(others.size() - more);
  return fmt::format("{} is aliased with {}{}: left out", name, join(others, " and "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

Sureness sureness(double estimate, double error, double df, double level) {
  Sureness out{error};
  out.t = estimate / out.error;
  out.p = t_two_sided(out.t, df);
  const double reach = t_quantile(0.5 + level / 2, df) * out.error;
  out.low = estimate - reach, out.high = estimate + reach;
  return out;
}

void set_fit(LinearModel& model, std::span<const double> response) {
  const auto n = static_cast<double>(model.rows), df = static_cast<double>(model.residual_df());
  if (model.total_ss <= exact_below(response)) {
    model.notes.push_back("the response never changes: there is nothing to explain");
    return;
  }
  model.r2 = 1 - model.residual_ss / model.total_ss;
  if (df > 0) model.adjusted_r2 = 1 - (1 - *model.r2) * (n - 1) / df;
}

}  // namespace

void check_response(std::span<const double> response) {
  if (response.empty()) throw UserError("a linear model needs at least one row");
  double largest = 0;
  for (std::size_t r = 0; r < response.size(); ++r) {
    if (!std::isfinite(response[r]))
      throw UserError(fmt::format("the response in row {} is not finite: leave the row out", r + 1));
    largest = std::max(largest, std::abs(response[r]));
  }
  if (largest > kLargest || (largest > 0 && largest < 1 / kLargest))
    throw UserError(fmt::format("a response of {:.3g} cannot be squared: take another unit", largest));
}

double squares_around_mean(std::span<const double> values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

double exact_below(std::span<const double> response) {
  double squares = 0;
  for (const double value : response) squares += value * value;
  return 1e-24 * squares;
}

std::vector<std::string> alias_notes(const LeastSquares& fit, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const auto& dependent : fit.dependent) out.push_back(said(dependent, names));
  return out;
}

LinearModel fit_linear(std::span<const Variable> variables, std::span<const double> response,
                       const LinearOptions& options) {
  check_response(response);
  if (!(options.level > 0 && options.level < 1))
    throw UserError(fmt::format("a confidence level of {} is not between 0 and 1", options.level));
  const auto matrix = model_matrix(variables, response.size(), options.order, options.coding);
  std::vector<const std::vector<double>*> columns;
  for (const auto& column : matrix.columns) columns.push_back(&column);
  const auto fit = least_squares(columns, response);

  LinearModel out{.rows = response.size(), .rank = fit.rank};
  out.total_ss = squares_around_mean(response), out.residual_ss = fit.residual_ss;
  out.notes = matrix.notes;
  for (auto& note : alias_notes(fit, matrix.names)) out.notes.push_back(std::move(note));
  set_fit(out, response);
  const bool exact = fit.residual_ss <= exact_below(response);
  if (out.residual_df() == 0)
    out.notes.push_back("as many coefficients as rows: nothing is left to judge them by");
  else if (exact)
    out.notes.push_back("the model fits exactly: there is no noise to judge coefficients by");
  const auto df = static_cast<double>(out.residual_df());
  for (std::size_t c = 0; c < columns.size(); ++c)
    out.coefficients.push_back({matrix.names[c], fit.coefficients[c]});
  for (const auto& dependent : fit.dependent) out.coefficients[dependent.column].aliased = true;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (df > 0 && !exact && !out.coefficients[c].aliased)
      out.coefficients[c].sure =
          sureness(fit.coefficients[c], std::sqrt(fit.residual_ss / df) * fit.spread[c], df, options.level);
  return out;
}

}  // namespace tandem::stats
