#include "stats/queues/inversion.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <vector>

namespace tandem::stats {
namespace {

constexpr double kDamping = 18.4;  // the error of discretising is exp(-18.4) = 1e-8
constexpr int kTerms = 30, kAverages = 11;

std::vector<double> binomial_weights() {
  std::vector<double> out{1};
  for (int i = 1; i <= kAverages; ++i) out.push_back(out.back() * (kAverages - i + 1) / i);
  for (double& weight : out) weight /= std::exp2(kAverages);
  return out;
}

}  // namespace

double tail_probability(const Transform& transform, double time) {
  assert(time > 0);
  static const std::vector<double> weights = binomial_weights();
  const auto term = [&](int k) {
    const std::complex<double> s(kDamping / (2 * time), k * std::numbers::pi / time);
    return ((1.0 - transform(s)) / s).real();
  };
  double sum = term(0) / 2, averaged = 0;
  for (int k = 1; k <= kTerms + kAverages; ++k) {
    sum += (k % 2 ? -1 : 1) * term(k);
    if (k >= kTerms) averaged += weights[static_cast<std::size_t>(k - kTerms)] * sum;
  }
  return std::exp(kDamping / 2) / time * averaged;
}

double quantile_of(const Transform& transform, double p, double scale) {
  assert(p > 0 && p < 1 && scale > 0);
  // Tails fall like exponentials, so their logarithm is nearly a line: false position finds it in a few
  // steps.
  const auto above = [&](double t) {
    return std::log(std::max(tail_probability(transform, t), 1e-12)) - std::log(1 - p);
  };
  double low = scale, at_low = above(low), high = low, at_high = at_low;
  while (at_low < 0 && low > 1e-12 * scale) high = low, at_high = at_low, low /= 2, at_low = above(low);
  if (at_low < 0) return 0;  // it is 0 with probability p already
  while (at_high >= 0) low = high, at_low = at_high, high *= 2, at_high = above(high);
  for (int i = 0; i < 60 && high - low > 1e-6 * high; ++i) {
    double middle = (low * at_high - high * at_low) / (at_high - at_low);
    if (!(middle > low && middle < high) || i % 8 == 7) middle = (low + high) / 2;
    const double value = above(middle);
    if (std::fabs(value) < 1e-7) return middle;
    if (value > 0)
      low = middle, at_low = value, at_high /= 2;  // the Illinois rule: the other end must not stay for ever
    else
      high = middle, at_high = value, at_low /= 2;
  }
  return (low + high) / 2;
}

double mean_of(const Transform& transform, double scale) {
  double mean = scale;
  for (int round = 0; round < 3; ++round) {  // the step is made to fit the mean it finds
    const double step = 1e-3 / mean;
    mean = -transform({0, step}).imag() / step;
    if (!(mean > 0)) return mean;
  }
  // The error is of third order in the step: two steps tell it apart.
  const double step = 1e-3 / mean, wide = -transform({0, 2 * step}).imag() / (2 * step);
  const double narrow = -transform({0, step}).imag() / step;
  return narrow + (narrow - wide) / 3;
}

}  // namespace tandem::stats
