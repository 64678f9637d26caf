#include "stats/regression/cross_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "stats/numeric/median.h"

namespace tandem::stats {
namespace {

constexpr std::uint64_t kDeal = 1, kPermute = 2;  // streams of a seed

template <class T>
void shuffle_values(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

void check_folding(const Examples& examples, const Folding& folding) {
  const std::size_t count = examples.targets.size();
  if (count == 0 || examples.rows.size() != count * examples.columns)
    throw UserError(fmt::format("{} values in rows do not fit {} targets and {} columns",
                                examples.rows.size(), count, examples.columns));
  if (!folding.groups.empty() && folding.groups.size() != count)
    throw UserError(fmt::format("{} groups were named for {} rows", folding.groups.size(), count));
}

// The rows of each group, largest group first, equal ones in drawn order.
std::vector<std::vector<std::size_t>> drawn_groups(std::size_t rows, const Folding& folding) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_number;
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < rows; ++i) {
    if (folding.groups.empty())
      out.push_back({i});
    else
      by_number[folding.groups[i]].push_back(i);
  }
  for (auto& [number, members] : by_number) out.push_back(std::move(members));
  Random random(folding.seed, kDeal);
  shuffle_values(out, random);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return out;
}

// A model for each fold, which learnt from the others.
struct FoldModels {
  std::vector<std::size_t> fold;
  std::vector<std::unique_ptr<Regression>> models;
};

FoldModels fit_folds(const MakeRegression& make, const Examples& examples, const Folding& folding) {
  check_folding(examples, folding);
  FoldModels out{deal_folds(examples.targets.size(), folding), {}};
  const std::size_t folds = *std::max_element(out.fold.begin(), out.fold.end()) + 1;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<double> rows, targets;
    for (std::size_t i = 0; i < examples.targets.size(); ++i) {
      if (out.fold[i] == fold) continue;
      const auto row = examples.rows.subspan(i * examples.columns, examples.columns);
      rows.insert(rows.end(), row.begin(), row.end());
      targets.push_back(examples.targets[i]);
    }
    out.models.push_back(make());
    out.models.back()->fit(rows, targets);
  }
  return out;
}

std::vector<double> predict_held_out(const FoldModels& fitted, std::span<const double> rows,
                                     std::size_t columns) {
  std::vector<double> out(fitted.fold.size());
  for (std::size_t fold = 0; fold < fitted.models.size(); ++fold) {
    std::vector<double> held;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (fitted.fold[i] != fold) continue;
      const auto row = rows.subspan(i * columns, columns);
      held.insert(held.end(), row.begin(), row.end());
      which.push_back(i);
    }
    const auto said = fitted.models[fold]->predict_rows(held, columns);
    for (std::size_t i = 0; i < which.size(); ++i) out[which[i]] = said[i];
  }
  return out;
}

double relative_error(double truth, double predicted) {
  if (truth == predicted) return 0;
  return truth == 0 ? std::numeric_limits<double>::infinity() : std::abs((predicted - truth) / truth);
}

}  // namespace

MakeRegression maker(const std::string& name, const std::vector<std::string>& columns) {
  return [name, columns] { return make_regression(name, columns); };
}

std::vector<std::size_t> deal_folds(std::size_t rows, const Folding& folding) {
  const auto groups = drawn_groups(rows, folding);
  const std::size_t folds = std::min(folding.folds, groups.size());
  if (folds < 2)
    throw UserError(
        fmt::format("cross-validation needs two folds at least; {} rows in {} groups were to be "
                    "dealt into {}",
                    rows, groups.size(), folding.folds));
  std::vector<std::size_t> out(rows), sizes(folds, 0);
  for (const auto& group : groups) {
    const auto fold = static_cast<std::size_t>(std::min_element(sizes.begin(), sizes.end()) - sizes.begin());
    for (const std::size_t row : group) out[row] = fold;
    sizes[fold] += group.size();
  }
  return out;
}

std::vector<double> cross_predict(const MakeRegression& make, const Examples& examples,
                                  const Folding& folding) {
  return predict_held_out(fit_folds(make, examples, folding), examples.rows, examples.columns);
}

Metrics metrics(std::span<const double> truth, std::span<const double> predicted) {
  if (truth.empty() || truth.size() != predicted.size())
    throw UserError(
        fmt::format("{} predictions cannot be held against {} truths", predicted.size(), truth.size()));
  const auto count = static_cast<double>(truth.size());
  const double middle = std::accumulate(truth.begin(), truth.end(), 0.0) / count;
  double errors = 0, deviations = 0;
  std::vector<double> relative;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    errors += (truth[i] - predicted[i]) * (truth[i] - predicted[i]);
    deviations += (truth[i] - middle) * (truth[i] - middle);
    relative.push_back(relative_error(truth[i], predicted[i]));
  }
  Metrics out;
  out.r2 = deviations > 0 ? 1 - errors / deviations : std::numeric_limits<double>::quiet_NaN();
  out.mse = errors / count;
  out.mape = std::accumulate(relative.begin(), relative.end(), 0.0) / count;
  out.median_ape = median(std::move(relative));
  return out;
}

Metrics mean(std::span<const Metrics> all) {
  Metrics out;
  const auto share = 1 / static_cast<double>(all.size());
  for (const auto& each : all) {
    out.r2 += each.r2 * share;
    out.mse += each.mse * share;
    out.mape += each.mape * share;
    out.median_ape += each.median_ape * share;
  }
  return out;
}

std::vector<Metrics> repeated_metrics(const MakeRegression& make, const Examples& examples, Folding folding,
                                      std::size_t repeats) {
  std::vector<Metrics> out;
  for (std::size_t i = 0; i < repeats; ++i, ++folding.seed)
    out.push_back(metrics(examples.targets, cross_predict(make, examples, folding)));
  return out;
}

std::vector<double> permutation_importance(const MakeRegression& make, const Examples& examples,
                                           const Folding& folding) {
  const FoldModels fitted = fit_folds(make, examples, folding);
  const std::size_t columns = examples.columns, count = examples.targets.size();
  const auto r2 = [&](std::span<const double> rows) {
    return metrics(examples.targets, predict_held_out(fitted, rows, columns)).r2;
  };
  const double with = r2(examples.rows);
  std::vector<double> out;
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> values, rows(examples.rows.begin(), examples.rows.end());
    for (std::size_t i = 0; i < count; ++i) values.push_back(rows[i * columns + c]);
    Random random(folding.seed, kPermute + c);
    shuffle_values(values, random);
    for (std::size_t i = 0; i < count; ++i) rows[i * columns + c] = values[i];
    out.push_back(with - r2(rows));
  }
  return out;
}

std::vector<GridOption> usual_grid(const std::string& regression) {
  if (regression == "forest")
    return {{"trees", {50, 200}}, {"depth", {4, 6, 10, 0}}, {"features", {0.34, 0.67, 1}}};
  if (regression == "boosting")
    return {{"rounds", {50, 200, 500}}, {"depth", {2, 3, 5}}, {"rate", {0.05, 0.1, 0.3}}};
  return {};
}

std::vector<GridPoint> grid_search(const std::string& regression, const std::vector<std::string>& columns,
                                   const std::vector<GridOption>& grid, const Examples& examples,
                                   const Folding& folding) {
  std::vector<GridPoint> out{{regression, 0}};
  for (const auto& option : grid) {
    std::vector<GridPoint> longer;
    for (const auto& point : out)
      for (const double value : option.values)
        longer.push_back({fmt::format("{}:{}={}", point.regression, option.name, value), 0});
    out = std::move(longer);
  }
  for (auto& point : out)
    point.mse =
        metrics(examples.targets, cross_predict(maker(point.regression, columns), examples, folding)).mse;
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.mse < b.mse; });
  return out;
}

}  // namespace tandem::stats
