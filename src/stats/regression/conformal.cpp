#include "stats/regression/conformal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "stats/numeric/median.h"
#include "stats/regression/linear_regression.h"

namespace tandem::stats {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Of the median error: below it an error is as good as none, and its logarithm must not rule the scale.
constexpr double kLeastError = 0.05;

void check_share(double share) {
  if (!(share > 0 && share < 1))
    throw UserError(fmt::format("a probability of {} cannot be asked for: it lies between 0 and 1", share));
}

// The error that so many of a hundred stay below, of n ascending ones; infinite where they do not tell.
double error_at(const std::vector<double>& errors, double share) {
  const auto count = static_cast<double>(errors.size());
  const double position = share * (count + 1);  // from 1
  if (position < 1 - 1e-9) return -kUnbounded;
  if (position > count + 1e-9) return kUnbounded;
  const double below = std::clamp(std::floor(position), 1.0, count);
  const auto at = static_cast<std::size_t>(below) - 1;
  const double next = at + 1 < errors.size() ? errors[at + 1] : errors[at];
  return errors[at] + std::clamp(position - below, 0.0, 1.0) * (next - errors[at]);
}

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

std::size_t groups_in(std::size_t rows, const Folding& folding) {
  if (folding.groups.empty()) return rows;
  auto groups = folding.groups;
  std::sort(groups.begin(), groups.end());
  return static_cast<std::size_t>(std::unique(groups.begin(), groups.end()) - groups.begin());
}

// A row for the regression of error sizes.
std::vector<double> with_prediction(std::span<const double> row, double prediction, bool ratios) {
  std::vector<double> out(row.begin(), row.end());
  out.push_back(ratios ? std::log(prediction) : prediction);
  return out;
}

std::vector<double> log_sizes(std::span<const double> errors) {
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  const double least = kLeastError * median(sizes);
  for (double& size : sizes) size = std::log(std::max(size, least));
  return sizes;
}

}  // namespace

double Outcome::shifted(double error) const {
  return errors_->ratios ? estimate_ * std::exp(scale_ * error) : estimate_ + scale_ * error;
}

Interval Outcome::interval(double level) const {
  check_share(level);
  const double lowest = errors_->ratios ? 0 : -kUnbounded;
  if (meaningless()) return {lowest, kUnbounded};
  double low = error_at(errors_->with_sign, (1 - level) / 2),
         high = error_at(errors_->with_sign, (1 + level) / 2);
  if (std::isinf(low) || std::isinf(high)) {
    high = error_at(errors_->absolute, level);
    low = -high;
  }
  return {std::isinf(low) ? lowest : shifted(low), shifted(high)};
}

double Outcome::quantile(double share) const {
  check_share(share);
  if (meaningless()) return kUnbounded;
  return shifted(error_at(errors_->with_sign, share));
}

double Outcome::probability_at_most(double x) const {
  if (meaningless() || errors_->with_sign.empty()) return 0;
  if (std::isnan(x)) throw UserError("the probability of a bound that is not a number was asked for");
  if (errors_->ratios && x <= 0) return 0;
  const double error = (errors_->ratios ? std::log(x / estimate_) : x - estimate_) / scale_;
  const auto& errors = errors_->with_sign;
  const auto above = std::upper_bound(errors.begin(), errors.end(), error);
  const auto count = static_cast<double>(errors.size()), below = static_cast<double>(above - errors.begin());
  if (above == errors.begin() || above == errors.end()) return below / (count + 1);
  const double step = (error - *(above - 1)) / (*above - *(above - 1));
  return (below + step) / (count + 1);
}

void Conformal::fit(const Examples& examples, const Folding& folding) {
  assert(make_);
  model_ = make_();
  model_->fit(examples.rows, examples.targets);
  log_size_.reset();
  errors_ = {};
  if (groups_in(examples.targets.size(), folding) < 2) return;
  const auto predicted = cross_predict(make_, examples, folding);
  errors_.ratios = all_positive(examples.targets) && all_positive(predicted);
  std::vector<double> errors;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    errors.push_back(errors_.ratios ? std::log(examples.targets[i] / predicted[i])
                                    : examples.targets[i] - predicted[i]);
  learn_scale(examples, folding, predicted, errors);
}

// Fills `errors_`, each error over a scale that was learnt without its fold.
void Conformal::learn_scale(const Examples& examples, const Folding& folding,
                            std::span<const double> predicted, std::span<const double> errors) {
  std::vector<double> scales(errors.size(), 1.0);
  if (std::any_of(errors.begin(), errors.end(), [](double error) { return error != 0; })) {
    const auto sizes = log_sizes(errors);
    std::vector<double> rows;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const auto row = with_prediction(examples.rows.subspan(i * examples.columns, examples.columns),
                                       predicted[i], errors_.ratios);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    const std::vector<std::string> columns(examples.columns + 1, "");
    const MakeRegression linear = [&] { return make_linear(columns); };
    const auto held_out = cross_predict(linear, {rows, sizes, columns.size()}, folding);
    if (metrics(sizes, held_out).r2 > 0) {
      log_size_ = linear();
      log_size_->fit(rows, sizes);
      const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
      sizes_ = {*least, *most};
      for (std::size_t i = 0; i < scales.size(); ++i)
        scales[i] = std::exp(std::clamp(held_out[i], sizes_.low, sizes_.high));
    }
  }
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors_.with_sign.push_back(errors[i] / scales[i]);
    errors_.absolute.push_back(std::abs(errors[i]) / scales[i]);
  }
  std::sort(errors_.with_sign.begin(), errors_.with_sign.end());
  std::sort(errors_.absolute.begin(), errors_.absolute.end());
}

double Conformal::scale_of(std::span<const double> row, double prediction) const {
  if (!log_size_ || (errors_.ratios && !(prediction > 0))) return 1;
  const double size = log_size_->predict(with_prediction(row, prediction, errors_.ratios));
  return std::exp(std::clamp(size, sizes_.low, sizes_.high));
}

Outcome Conformal::at(std::span<const double> row) const {
  assert(model_);
  const double prediction = model_->predict(row);
  return {prediction, scale_of(row, prediction), errors_};
}

std::vector<Outcome> Conformal::at_rows(std::span<const double> rows, std::size_t columns) const {
  assert(model_);
  const auto predictions = model_->predict_rows(rows, columns);
  std::vector<Outcome> out;
  for (std::size_t i = 0; i < predictions.size(); ++i)
    out.emplace_back(predictions[i], scale_of(rows.subspan(i * columns, columns), predictions[i]), errors_);
  return out;
}

nlohmann::json Conformal::written() const {
  assert(model_);
  return {{"model", model_->written()},
          {"log_size", log_size_ ? log_size_->written() : nlohmann::json()},
          {"sizes", {sizes_.low, sizes_.high}},
          {"errors", errors_.with_sign},
          {"ratios", errors_.ratios}};
}

Conformal Conformal::read(const nlohmann::json& written) {
  try {
    Conformal out(nullptr);
    out.model_ = read_regression(written.at("model"));
    if (const auto& size = written.at("log_size"); !size.is_null()) out.log_size_ = read_regression(size);
    out.sizes_ = {written.at("sizes").at(0).get<double>(), written.at("sizes").at(1).get<double>()};
    written.at("errors").get_to(out.errors_.with_sign);
    written.at("ratios").get_to(out.errors_.ratios);
    for (const double error : out.errors_.with_sign) out.errors_.absolute.push_back(std::abs(error));
    std::sort(out.errors_.with_sign.begin(), out.errors_.with_sign.end());
    std::sort(out.errors_.absolute.begin(), out.errors_.absolute.end());
    return out;
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("stored intervals cannot be read ({}): train them anew", error.what()));
  }
}

}  // namespace tandem::stats
