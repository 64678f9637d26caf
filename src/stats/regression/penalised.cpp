#include "stats/regression/penalised.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace tandem::stats {
namespace {

constexpr std::size_t kPath = 60, kFolds = 10;
constexpr double kRidgeMost = 1e3, kRidgeLeast = 1e-6, kLassoSpan = 1e-5;
constexpr int kMostSweeps = 20'000;
constexpr double kSettled = 1e-12;  // of a standardised slope, beside the largest
constexpr double kNoColumnSpread = 1e-12;

// The columns' means, deviations and correlations, of the rows that are used.
struct Moments {
  std::vector<double> mean, deviation;       // deviation 0: it never changes
  std::vector<std::vector<double>> between;  // correlations
  std::vector<double> with_target;           // standardised column times target, averaged
  double target_mean = 0;
};

Moments moments_of(const Columns& columns, std::span<const double> targets,
                   std::span<const std::size_t> rows) {
  const std::size_t p = columns.size();
  const double share = 1 / static_cast<double>(rows.size());
  Moments out{std::vector(p, 0.0), std::vector(p, 0.0), std::vector(p, std::vector(p, 0.0)),
              std::vector(p, 0.0)};
  for (const auto r : rows) out.target_mean += targets[r] * share;
  Columns scaled(p, std::vector<double>(rows.size()));
  for (std::size_t c = 0; c < p; ++c) {
    double squares = 0;
    for (const auto r : rows) out.mean[c] += columns[c][r] * share;
    for (const auto r : rows)
      squares += (columns[c][r] - out.mean[c]) * (columns[c][r] - out.mean[c]) * share;
    const double deviation = std::sqrt(squares);
    if (deviation <= kNoColumnSpread * (1 + std::abs(out.mean[c]))) continue;
    out.deviation[c] = deviation;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      scaled[c][i] = (columns[c][rows[i]] - out.mean[c]) / deviation;
      out.with_target[c] += scaled[c][i] * (targets[rows[i]] - out.target_mean) * share;
    }
    for (std::size_t k = 0; k <= c; ++k)
      out.between[c][k] = out.between[k][c] =
          std::inner_product(scaled[c].begin(), scaled[c].end(), scaled[k].begin(), 0.0) * share;
  }
  return out;
}

// Goes on from the slopes given (standardised), one column after the other, until they settle.
void descend_slopes(const Moments& of, Penalty penalty, double lambda, std::vector<double>& slopes) {
  const std::size_t p = slopes.size();
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double moved = 0, largest = 0;
    for (std::size_t c = 0; c < p; ++c) {
      if (of.deviation[c] == 0) continue;
      double pull = of.with_target[c] + slopes[c];
      for (std::size_t k = 0; k < p; ++k) pull -= of.between[c][k] * slopes[k];
      double next = pull / (1 + lambda);
      if (penalty == Penalty::lasso) next = std::copysign(std::max(0.0, std::abs(pull) - lambda), pull);
      moved = std::max(moved, std::abs(next - slopes[c])), largest = std::max(largest, std::abs(next));
      slopes[c] = next;
    }
    if (moved <= kSettled * largest) return;
  }
}

PenalisedFit in_their_units(const Moments& of, const std::vector<double>& slopes) {
  PenalisedFit out{of.target_mean, std::vector(slopes.size(), 0.0)};
  for (std::size_t c = 0; c < slopes.size(); ++c)
    if (of.deviation[c] > 0) {
      out.slopes[c] = slopes[c] / of.deviation[c];
      out.constant -= out.slopes[c] * of.mean[c];
    }
  return out;
}

std::vector<std::size_t> all_rows(std::size_t count) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Squared errors of each lambda of the path on the rows left out.
void add_errors(const Columns& columns, std::span<const double> targets, Penalty penalty,
                const std::vector<double>& path, std::span<const std::size_t> learn,
                std::span<const std::size_t> left_out, std::vector<double>& errors) {
  const auto moments = moments_of(columns, targets, learn);
  std::vector<double> slopes(columns.size(), 0.0);
  for (std::size_t l = 0; l < path.size(); ++l) {
    descend_slopes(moments, penalty, path[l], slopes);
    const auto fit = in_their_units(moments, slopes);
    for (const auto r : left_out) {
      double off = fit.constant - targets[r];
      for (std::size_t c = 0; c < columns.size(); ++c) off += fit.slopes[c] * columns[c][r];
      errors[l] += off * off;
    }
  }
}

}  // namespace

PenalisedFit fit_penalised(const Columns& columns, std::span<const double> targets, Penalty penalty,
                           double lambda) {
  const auto moments = moments_of(columns, targets, all_rows(targets.size()));
  std::vector<double> slopes(columns.size(), 0.0);
  descend_slopes(moments, penalty, lambda, slopes);
  return in_their_units(moments, slopes);
}

std::vector<double> penalty_path(const Columns& columns, std::span<const double> targets, Penalty penalty) {
  double most = kRidgeMost, least = kRidgeLeast;
  if (penalty == Penalty::lasso) {
    most = 0;
    for (const double with : moments_of(columns, targets, all_rows(targets.size())).with_target)
      most = std::max(most, std::abs(with));
    least = most * kLassoSpan;
  }
  std::vector<double> out;
  for (std::size_t i = 0; i < kPath; ++i)  // 0 throughout where nothing has to be explained
    out.push_back(most > 0 ? most * std::pow(least / most, static_cast<double>(i) / (kPath - 1)) : 0);
  return out;
}

double choose_lambda(const Columns& columns, std::span<const double> targets, Penalty penalty,
                     std::uint64_t seed) {
  const auto path = penalty_path(columns, targets, penalty);
  const std::size_t n = targets.size();
  if (n < 3) return path.front();
  auto order = all_rows(n);
  Random random(seed, hash_name("folds of a penalty"));
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<double> errors(path.size(), 0.0);
  const std::size_t folds = std::min(kFolds, n);
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<std::size_t> learn, left_out;
    for (std::size_t i = 0; i < n; ++i) (i % folds == fold ? left_out : learn).push_back(order[i]);
    add_errors(columns, targets, penalty, path, learn, left_out, errors);
  }
  return path[static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin())];
}

}  // namespace tandem::stats
