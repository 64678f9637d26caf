#include "search/axis.h"

#include <algorithm>
#include <cmath>

#include "search/points.h"

namespace tandem::search {
namespace {

using Kind = spec::Domain::Kind;

constexpr double kRootTwoPi = 2.5066282746310005;

double last_position() {
  return std::nextafter(1.0, 0.0);
}

double polynomial(std::initializer_list<double> coefficients, double x) {
  double out = 0;
  for (const double each : coefficients) out = out * x + each;
  return out;
}

}  // namespace

Axis::Axis(const spec::Domain& domain)
    : domain_(domain),
      choices_(domain.kind == Kind::choice ? static_cast<double>(domain.choices.size()) : 0) {}

double Axis::coordinate(const Value& value) const {
  const double u = position(domain_, value);
  return is_choice() ? std::floor(u * choices_) : u;
}

Value Axis::value(double coordinate) const {
  if (is_choice()) return domain_.choices[static_cast<std::size_t>(coordinate)];
  return at(domain_, coordinate);
}

double Axis::snapped(double u) const {
  const bool real = (domain_.kind == Kind::real && domain_.step == 0) || domain_.kind == Kind::log_real;
  return real ? u : position(domain_, at(domain_, u));
}

double Axis::cell(double coordinate) const {
  if (domain_.step > 0) return 1 / static_cast<double>(*count(domain_));
  if (domain_.kind == Kind::whole) return 1 / (domain_.high - domain_.low + 1);
  if (domain_.kind != Kind::log_whole) return 0;
  const double here = *as_number(at(domain_, coordinate));
  return std::log((here + 0.5) / (here - 0.5)) / std::log((domain_.high + 0.5) / (domain_.low - 0.5));
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x * M_SQRT1_2);
}

// Acklam's rational approximations; their relative error is below 1.2e-9, far below what a search can notice.
double normal_quantile(double mass) {
  constexpr double kTail = 0.02425;
  if (mass > 0.5) return -normal_quantile(1 - mass);
  if (mass < 1e-300) return -37;
  if (mass < kTail) {
    const double q = std::sqrt(-2 * std::log(mass));
    return polynomial({-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                       -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00},
                      q) /
           polynomial({7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                       3.754408661907416e+00, 1},
                      q);
  }
  const double q = mass - 0.5, r = q * q;
  return q *
         polynomial({-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                     1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00},
                    r) /
         polynomial({-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                     6.680131188771972e+01, -1.328068155288572e+01, 1},
                    r);
}

double mass_inside(double mean, double deviation) {
  return normal_cdf((1 - mean) / deviation) - normal_cdf(-mean / deviation);
}

double draw_inside(double mean, double deviation, Random& random) {
  const double from = normal_cdf(-mean / deviation), to = normal_cdf((1 - mean) / deviation);
  const double drawn = mean + deviation * normal_quantile(from + (to - from) * random.uniform());
  return std::clamp(drawn, 0.0, last_position());
}

double normal_density(double distance, double deviation) {
  const double t = distance / deviation;
  return std::exp(-0.5 * t * t) / (deviation * kRootTwoPi);
}

double log_normal_top(double deviation) {
  return -std::log(deviation * kRootTwoPi);
}

double widened(double deviation, double cell) {
  return std::sqrt(deviation * deviation + cell * cell / 12);
}

ChoiceKernel::ChoiceKernel(double choices, double n) {
  const double smoothing = 1 / (n + 1), all = 1 + smoothing * choices;
  same = (1 + smoothing) / all * choices;
  other = smoothing / all * choices;
  leaving = smoothing * choices / all;
}

}  // namespace tandem::search
