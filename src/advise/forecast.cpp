#include "advise/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace tandem::advise {
namespace {

// The regularised incomplete beta function for Student's t, by its continued fraction (Lentz).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x)) /
      a;
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double sum = d;
  const auto advance = [&](double by) {
    d = 1 + by * d;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = 1 + by / c;
    if (std::abs(c) < kTiny) c = kTiny;
    return c * d;
  };
  for (int m = 1; m < 300; ++m) {
    sum *= advance(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    const double step = advance(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
    sum *= step;
    if (std::abs(step - 1) < 1e-14) break;
  }
  return front * sum;
}

double student_below(double t, double freedom) {
  const double tail = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
  return t > 0 ? 1 - tail : tail;
}

double student_quantile(double probability, double freedom) {
  double low = -1e6, high = 1e6;
  for (int i = 0; i < 200 && high - low > 1e-12 * (1 + std::abs(low)); ++i)
    (student_below((low + high) / 2, freedom) < probability ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

}  // namespace

ErrorLaw::ErrorLaw(std::vector<double> errors, double prior) : errors_(std::move(errors)), prior_(prior) {
  std::sort(errors_.begin(), errors_.end());
  double squares = kPriorErrors * prior_ * prior_;
  for (const double error : errors_) squares += error * error;
  freedom_ = kPriorErrors + static_cast<double>(errors_.size());
  deviation_ = std::sqrt(squares / freedom_);
}

double ErrorLaw::below(double error) const {
  if (std::isnan(error)) return 0;
  if (few()) return deviation_ > 0 ? student_below(error / deviation_, freedom_) : (error >= 0 ? 1 : 0);
  const auto count = std::upper_bound(errors_.begin(), errors_.end(), error) - errors_.begin();
  return static_cast<double>(count) / static_cast<double>(errors_.size() + 1);
}

double ErrorLaw::quantile(double probability) const {
  if (few()) return student_quantile(probability, freedom_) * deviation_;
  const auto rank = probability >= 0.5 ? std::ceil(probability * static_cast<double>(errors_.size() + 1))
                                       : std::floor(probability * static_cast<double>(errors_.size() + 1));
  if (rank < 1) return -kNoBound;
  if (rank > static_cast<double>(errors_.size())) return kNoBound;
  return errors_[static_cast<std::size_t>(rank) - 1];
}

nlohmann::json ErrorLaw::written() const {
  return {{"errors", errors_}, {"prior", prior_}};
}

ErrorLaw ErrorLaw::read(const nlohmann::json& written) {
  return {written.at("errors").get<std::vector<double>>(), written.at("prior").get<double>()};
}

double Forecast::value() const {
  const double own = middle + more;
  return std::clamp(ceiling ? std::min(own, per_unit * ceiling->value()) : own, least, most);
}

// What is never above another number is at most `value` at least as surely as that one is.
double Forecast::below(double value) const {
  if (value >= most) return 1;
  if (value < least) return 0;
  const double rest = value - more;
  double own = 0;
  if (kind == ErrorKind::absolute)
    own = law->below((rest - middle) / usual_error);
  else if (rest > 0 && middle > 0)
    own = law->below(std::log(rest / middle) / usual_error);
  return ceiling ? std::max(own, ceiling->below(value / per_unit)) : own;
}

double Forecast::quantile(double probability) const {
  const double error = law->quantile(probability) * usual_error;
  double value = more + (kind == ErrorKind::absolute ? middle + error : middle * std::exp(error));
  if (ceiling) value = std::min(value, per_unit * ceiling->quantile(probability));
  return std::clamp(value, least, most);
}

Interval Forecast::interval(double level) const {
  return {quantile((1 - level) / 2), quantile((1 + level) / 2)};
}

}  // namespace tandem::advise
