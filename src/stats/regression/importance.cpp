#include "stats/regression/importance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace tandem::stats {
namespace {

constexpr std::size_t kMostObservations = 500;
constexpr double kFence = 1.5;                       // interquartile ranges
constexpr double kBandwidths[] = {0.08, 0.15, 0.3};  // of the range of ranks
constexpr double kLocalRidge = 1e-4;                 // keeps the local line level where all ranks are equal

struct Sample {
  std::vector<double> results;
  std::vector<std::size_t> rows;  // indices of the observations
};

double mean_importance(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void pull_to_fence(std::vector<double>& results) {
  auto sorted = results;
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted[sorted.size() / 4], high = sorted[sorted.size() * 3 / 4];
  if (!(high > low)) return;
  const double reach = kFence * (high - low);
  for (double& result : results) result = std::clamp(result, low - reach, high + reach);
}

Sample usable(std::span<const Observation> observations) {
  Sample all;
  for (std::size_t i = 0; i < observations.size(); ++i)
    if (std::isfinite(observations[i].result)) all.rows.push_back(i);
  if (all.rows.size() > kMostObservations) {
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < kMostObservations; ++i)
      some.push_back(all.rows[i * all.rows.size() / kMostObservations]);
    all.rows = std::move(some);
  }
  for (const std::size_t row : all.rows) all.results.push_back(observations[row].result);
  if (!all.results.empty()) pull_to_fence(all.results);
  return all;
}

// Places in the order of size, 0 to 1; equal numbers share their mean place.
std::vector<double> places(const std::vector<double>& numbers) {
  const std::size_t n = numbers.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> out(n);
  for (std::size_t from = 0, to = 0; from < n; from = to) {
    while (to < n && numbers[order[to]] == numbers[order[from]]) ++to;
    const double place = static_cast<double>(from + to - 1) / 2 / static_cast<double>(n - 1);
    for (std::size_t i = from; i < to; ++i) out[order[i]] = place;
  }
  return out;
}

// What the others say the result at `i` is: a line through them, the nearer the heavier.
double local_line(const std::vector<double>& place, const std::vector<double>& result, std::size_t i,
                  double bandwidth) {
  double s0 = 0, s1 = 0, s2 = 0, t0 = 0, t1 = 0;
  for (std::size_t k = 0; k < place.size(); ++k) {
    if (k == i) continue;
    const double away = place[k] - place[i], near = away / bandwidth;
    const double weight = std::exp(-near * near / 2);
    s0 += weight, s1 += weight * away, s2 += weight * away * away;
    t0 += weight * result[k], t1 += weight * away * result[k];
  }
  s2 += kLocalRidge * s0;
  const double determinant = s0 * s2 - s1 * s1;
  if (!(s0 > 0) || !(determinant > 0)) return t0 / std::max(s0, 1e-300);
  return (s2 * t0 - s1 * t1) / determinant;
}

double error_of_numbers(const std::vector<double>& numbers, const std::vector<double>& results) {
  const auto place = places(numbers);
  double least = std::numeric_limits<double>::infinity();
  for (const double bandwidth : kBandwidths) {
    double error = 0;
    for (std::size_t i = 0; i < results.size(); ++i)
      error += std::pow(local_line(place, results, i, bandwidth) - results[i], 2);
    least = std::min(least, error);
  }
  return least;
}

double mean_without(const std::vector<double>& results, double sum, std::size_t i) {
  return (sum - results[i]) / static_cast<double>(results.size() - 1);
}

// The mean of the others with the same word, pulled towards the mean of all others as if by one more trial.
double error_of_words(const std::vector<std::string>& words, const std::vector<double>& results) {
  std::map<std::string, std::pair<double, double>> groups;  // sum and count
  for (std::size_t i = 0; i < words.size(); ++i)
    groups[words[i]].first += results[i], groups[words[i]].second += 1;
  const double sum = std::accumulate(results.begin(), results.end(), 0.0);
  double error = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& [total, count] = groups[words[i]];
    const double predicted = (total - results[i] + mean_without(results, sum, i)) / count;
    error += std::pow(predicted - results[i], 2);
  }
  return error;
}

double error_of_mean(const std::vector<double>& results) {
  const double sum = std::accumulate(results.begin(), results.end(), 0.0);
  double error = 0;
  for (std::size_t i = 0; i < results.size(); ++i)
    error += std::pow(mean_without(results, sum, i) - results[i], 2);
  return error;
}

// Squared error that knowing the parameter saves, among the trials that have it.
double saved(const std::vector<const Value*>& values, const std::vector<double>& results) {
  std::vector<double> numbers;
  std::vector<std::string> words;
  std::set<std::string> different;
  for (const Value* value : values) {
    if (const auto number = as_number(*value)) numbers.push_back(*number);
    words.push_back(text(*value));
    different.insert(words.back());
  }
  if (different.size() < 2 || results.size() < 4) return 0;
  const bool ordered = numbers.size() == values.size();
  const double error = ordered ? error_of_numbers(numbers, results) : error_of_words(words, results);
  return std::max(0.0, error_of_mean(results) - error);
}

}  // namespace

std::vector<Importance> importance(std::span<const Observation> observations) {
  const Sample sample = usable(observations);
  if (sample.rows.size() < kFewestObservations) return {};
  std::set<std::string> names;
  for (const std::size_t row : sample.rows)
    for (const auto& [name, value] : observations[row].at) names.insert(name);

  const double total = error_of_mean(sample.results);
  const double scale = std::abs(mean_importance(sample.results));
  const bool varies = total > 1e-24 * scale * scale * static_cast<double>(sample.rows.size());
  std::vector<Importance> out;
  double sum = 0;
  for (const std::string& name : names) {
    std::vector<const Value*> values;
    std::vector<double> results;
    for (std::size_t i = 0; i < sample.rows.size(); ++i) {
      const Values& at = observations[sample.rows[i]].at;
      if (const auto found = at.find(name); found != at.end())
        values.push_back(&found->second), results.push_back(sample.results[i]);
    }
    const double share = varies ? std::min(1.0, saved(values, results) / total) : 0;
    out.push_back({name, share, values.size()});
    sum += share;
  }
  for (auto& parameter : out) parameter.share /= std::max(1.0, sum);
  std::stable_sort(out.begin(), out.end(),
                   [](const Importance& a, const Importance& b) { return a.share > b.share; });
  return out;
}

}  // namespace tandem::stats
