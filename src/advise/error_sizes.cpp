#include "advise/error_sizes.h"

#include <algorithm>
#include <cmath>

#include "advise/forecast.h"

namespace tandem::advise {
namespace {

constexpr double kLeastError = 1e-4;  // of the largest error: an error of 0 has no logarithm

// Logarithms of what is positive: sizes of errors go with orders of magnitude.
std::vector<double> in_logs(std::span<const double> row) {
  std::vector<double> out(row.begin(), row.end());
  for (double& value : out) value = value > 0 ? std::log(value) : value;
  return out;
}

}  // namespace

ErrorSizes::ErrorSizes(const std::vector<std::string>& columns, std::span<const double> rows,
                       std::span<const double> errors) {
  double largest = 0;
  for (const double error : errors) largest = std::max(largest, std::abs(error));
  if (errors.size() < kFewErrors || largest == 0) return;
  std::vector<double> targets;
  for (const double error : errors)
    targets.push_back(std::log(std::max(std::abs(error), kLeastError * largest)));
  auto model = stats::make_regression("linear", columns);
  model->fit(in_logs(rows.first(errors.size() * columns.size())), targets);
  logs_ = std::move(model);
}

double ErrorSizes::at(std::span<const double> row) const {
  return logs_ ? std::exp(logs_->predict(in_logs(row))) : 1;
}

nlohmann::json ErrorSizes::written() const {
  return logs_ ? logs_->written() : nlohmann::json();
}

ErrorSizes ErrorSizes::read(const nlohmann::json& written) {
  ErrorSizes out;
  if (!written.is_null()) out.logs_ = stats::read_regression(written);
  return out;
}

}  // namespace tandem::advise
