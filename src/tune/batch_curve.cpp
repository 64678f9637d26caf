#include "tune/batch_curve.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <numbers>

#include "stats/numeric/cholesky.h"
#include "stats/numeric/distributions.h"
#include "stats/numeric/matern.h"

namespace tandem::tune {
namespace {

// How far a curve wanders (a factor of e is ordinary), over how many doublings of the batch size, and how
// little is known of its level. Between a batch size and its double that makes a factor of about 1.3.
constexpr double kWander = 1, kDoublings = 6, kLevel = 10;
constexpr double kSaysNothing = 1e6;  // variance of a site that has not been looked at yet
constexpr int kSweeps = 8;

double covariance(double a, double b) {
  return kLevel * kLevel + kWander * kWander * stats::matern((std::log2(a) - std::log2(b)) / kDoublings);
}

class Process {
 public:
  Process(const std::vector<Sighting>& seen, double centre) : seen_(seen), centre_(centre) {
    const std::size_t n = seen.size();
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        matrix[i * n + j] = covariance(seen[i].batch, seen[j].batch) + (i == j ? seen[i].variance : 0);
    factor_ = std::make_unique<stats::Cholesky>(std::move(matrix), n);
    assert(factor_->ok());
    std::vector<double> offsets;
    for (const auto& s : seen) offsets.push_back(s.log - centre);
    weights_ = factor_->solve(std::move(offsets));
  }

  Belief at(double batch) const {
    std::vector<double> across;
    for (const auto& s : seen_) across.push_back(covariance(batch, s.batch));
    Belief out{centre_, covariance(batch, batch)};
    for (std::size_t i = 0; i < across.size(); ++i) out.mean += across[i] * weights_[i];
    for (const double part : factor_->half(across)) out.variance -= part * part;
    out.variance = std::max(out.variance, 1e-9);  // rounding
    return out;
  }

 private:
  const std::vector<Sighting>& seen_;
  double centre_;
  std::unique_ptr<stats::Cholesky> factor_;
  std::vector<double> weights_;
};

// The normal density over the normal distribution, also far out, where both vanish.
double density_over_distribution(double z) {
  if (z < -30) return -z;
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) / stats::normal_cdf(z);
}

// What "at least `floor`, give or take `noise`" adds to what is believed without it, as a plain sighting.
void project(Sighting& site, const Belief& without, double floor, double noise) {
  const double wide = without.variance + noise, z = (without.mean - floor) / std::sqrt(wide);
  const double ratio = density_over_distribution(z);
  const double mean = without.mean + without.variance * ratio / std::sqrt(wide);
  const double shrink = without.variance * ratio * (z + ratio) / wide;  // of the variance, as a share
  if (shrink < 1e-9) {
    site.variance = kSaysNothing;
    return;
  }
  const double variance = without.variance * (1 - std::min(shrink, 1 - 1e-9));
  site.variance = 1 / (1 / variance - 1 / without.variance);
  site.log = site.variance * (mean / variance - without.mean / without.variance);
}

}  // namespace

std::vector<Belief> batch_curve(std::vector<Sighting> seen, const std::vector<std::int64_t>& batches) {
  assert(!seen.empty());
  double centre = 0;
  for (const auto& s : seen) centre += s.log / static_cast<double>(seen.size());
  const auto told = seen;
  bool bounds = false;
  for (auto& s : seen)
    if (s.at_least) bounds = true, s.variance = kSaysNothing;
  for (int sweep = 0; bounds && sweep < kSweeps; ++sweep) {
    const Process process(seen, centre);
    auto next = seen;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!seen[i].at_least) continue;
      const auto with = process.at(seen[i].batch);
      const double left = 1 / with.variance - 1 / seen[i].variance;
      if (left <= 0) continue;  // rounding: this site is all there is
      const Belief without{(with.mean / with.variance - seen[i].log / seen[i].variance) / left, 1 / left};
      project(next[i], without, told[i].log, told[i].variance);
    }
    seen = std::move(next);
  }
  const Process process(seen, centre);
  std::vector<Belief> out;
  for (const auto batch : batches) out.push_back(process.at(static_cast<double>(batch)));
  return out;
}

}  // namespace tandem::tune
