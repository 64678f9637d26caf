#include "characterize/boxes.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "stats/numeric/median.h"

namespace tandem::characterize {
namespace {

std::vector<double> values_of(const Study& study, const std::string& response) {
  std::vector<double> out;
  for (const auto& run : study.runs)
    if (const auto found = run.responses.find(response); found != run.responses.end())
      out.push_back(found->second);
  return out;
}

struct Workload {
  std::string method, dataset;
  double value = 0;
};

std::vector<Workload> workloads(const Study& study, const std::string& response) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> values;
  for (const auto& run : study.runs)
    if (const auto found = run.responses.find(response); found != run.responses.end())
      values[{run.method, run.dataset}].push_back(found->second);
  std::vector<Workload> out;
  for (const auto& [key, own] : values) out.push_back({key.first, key.second, stats::median(own)});
  return out;
}

Spread spread_of(const std::vector<Workload>& all, std::string Workload::*key, bool logarithms) {
  std::map<std::string, std::vector<double>> groups;
  for (const auto& workload : all) groups[workload.*key].push_back(workload.value);
  Spread out;
  double squares = 0, df = 0;
  for (auto& [name, values] : groups) {
    out.groups[name] = box_of(values);
    if (logarithms)
      for (auto& value : values) value = std::log10(value);
    const double mean = mean_of(values).value;
    for (const double value : values) squares += (value - mean) * (value - mean);
    df += static_cast<double>(values.size() - 1);
  }
  if (df > 0) out.within = std::sqrt(squares / df);
  return out;
}

}  // namespace

double quantile(std::span<const double> sorted, double share) {
  assert(!sorted.empty() && share >= 0 && share <= 1);
  const double place = share * static_cast<double>(sorted.size() - 1), below = std::floor(place);
  const auto at = static_cast<std::size_t>(below);
  if (at + 1 >= sorted.size()) return sorted.back();
  return sorted[at] + (place - below) * (sorted[at + 1] - sorted[at]);
}

Box box_of(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  Box out{values.size(),         values.front(),         quantile(values, 0.25),
          quantile(values, 0.5), quantile(values, 0.75), values.back()};
  const double reach = 1.5 * (out.high - out.low);
  out.whisker_low = out.highest, out.whisker_high = out.lowest;
  for (const double value : values) {
    if (value < out.low - reach || value > out.high + reach) {
      out.outside.push_back(value);
      continue;
    }
    out.whisker_low = std::min(out.whisker_low, value), out.whisker_high = std::max(out.whisker_high, value);
  }
  return out;
}

std::vector<PhaseBox> boxes(const Study& study) {
  check(study);
  std::vector<std::string> phases;
  for (const auto& response : study.responses)
    if (std::find(phases.begin(), phases.end(), response.phase) == phases.end())
      phases.push_back(response.phase);
  std::vector<PhaseBox> out;
  for (const auto& phase : phases)
    for (const auto& response : study.responses) {
      auto values = values_of(study, response.name);
      if (response.phase != phase || values.empty()) continue;
      out.push_back({phase, response.name, response.unit, box_of(std::move(values))});
    }
  return out;
}

Variability variability(const Study& study, const std::string& response) {
  check(study);
  response_named(study, response);
  const auto all = workloads(study, response);
  Variability out{response};
  out.orders_of_magnitude =
      std::all_of(all.begin(), all.end(), [](const Workload& w) { return w.value > 0; });
  out.method = spread_of(all, &Workload::method, out.orders_of_magnitude);
  out.dataset = spread_of(all, &Workload::dataset, out.orders_of_magnitude);
  return out;
}

}  // namespace tandem::characterize
