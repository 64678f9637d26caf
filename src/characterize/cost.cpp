#include "characterize/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace tandem::characterize {
namespace {

constexpr double kSecondsPerHour = 3600, kBytesPerGb = 1e9;

void need_amount(const char* what, double value) {
  if (!std::isfinite(value) || value < 0)
    throw UserError(
        fmt::format("a cost cannot be told from {} of {}: it must be a number from 0 on", what, value));
}

std::map<Values, Mean> means(const Study& study, const std::string& response) {
  std::map<Values, Mean> out;
  for (const auto& setting : settings(study, response)) out[setting.at] = mean_of(setting.observations);
  return out;
}

std::vector<Candidate> candidates(const Study& study, const Threefold& goal, Strategy strategy) {
  const auto quality = means(study, goal.quality), time = means(study, goal.time),
             cost = means(study, goal.cost);
  std::vector<Candidate> out;
  for (const auto& [at, mean] : quality) {
    const auto seconds = time.find(at), price = cost.find(at);
    if (seconds == time.end() || price == cost.end() || !belongs(study, at, strategy)) continue;
    out.push_back({at, mean, seconds->second, price->second});
  }
  return out;
}

// The smallest by `of`, then by the rest in order; ties by the settings' values, as the list is ordered by
// them.
template <class Of>
std::optional<Candidate> smallest(const std::vector<Candidate>& from, Of of) {
  const auto found = std::min_element(from.begin(), from.end(),
                                      [&](const Candidate& a, const Candidate& b) { return of(a) < of(b); });
  if (found == from.end()) return {};
  return *found;
}

std::vector<Candidate> front_of(std::vector<Candidate> good) {
  std::stable_sort(good.begin(), good.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.time.value, a.cost.value) < std::pair(b.time.value, b.cost.value);
  });
  std::vector<Candidate> out;
  for (auto& candidate : good)
    if (out.empty() || candidate.cost.value < out.back().cost.value) out.push_back(std::move(candidate));
  return out;
}

}  // namespace

double dollars(double seconds, double cores, double bytes_out, const Prices& prices) {
  need_amount("a time", seconds), need_amount("cores", cores), need_amount("bytes sent", bytes_out);
  need_amount("a price an hour", prices.dollars_per_hour),
      need_amount("a price a GB", prices.dollars_per_gb_out);
  if (!std::isfinite(prices.cores) || prices.cores <= 0)
    throw UserError(
        fmt::format("the price is of an instance with {} cores: it must have some", prices.cores));
  return seconds / kSecondsPerHour * prices.dollars_per_hour * cores / prices.cores +
         bytes_out / kBytesPerGb * prices.dollars_per_gb_out;
}

ThreefoldAnswer threefold(const Study& study, const Threefold& goal, Strategy strategy) {
  check(study);
  if (goal.quality == goal.time || goal.quality == goal.cost || goal.time == goal.cost)
    throw UserError("the threefold objective needs three different responses: quality, time and cost");
  const bool more = response_named(study, goal.quality).more_is_better;
  response_named(study, goal.time), response_named(study, goal.cost);
  const auto all = candidates(study, goal, strategy);
  std::vector<Candidate> good;
  for (const auto& candidate : all) {
    const double quality = candidate.quality.value;
    if (more ? quality >= goal.quality_at_least : quality <= goal.quality_at_least) good.push_back(candidate);
  }
  ThreefoldAnswer out{all.size(), good.size()};
  out.best_quality = smallest(all, [&](const Candidate& c) {
    return std::tuple(more ? -c.quality.value : c.quality.value, c.time.value, c.cost.value);
  });
  out.fastest = smallest(good, [](const Candidate& c) { return std::pair(c.time.value, c.cost.value); });
  out.cheapest = smallest(good, [](const Candidate& c) { return std::pair(c.cost.value, c.time.value); });
  out.compromise = smallest(good, [](const Candidate& c) { return c.time.value * c.cost.value; });
  out.front = front_of(good);
  return out;
}

}  // namespace tandem::characterize
