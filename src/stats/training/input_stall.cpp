#include "stats/training/input_stall.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem::stats {
namespace {

constexpr double kSlowedBy = 1.3, kOften = 0.2;
constexpr double kOfOneRate = 0.6;  // how much rates may differ, as a share of how batches do

bool may_stall(const TrainingRow& row) {
  return row.nodes == 1 && row.replicas > 1;
}

bool on_one_and_two_nodes(std::span<const TrainingRow> rows) {
  const auto has = [&](double nodes) {
    return std::any_of(rows.begin(), rows.end(), [&](const TrainingRow& row) { return row.nodes == nodes; });
  };
  return has(1) && has(2) &&
         std::all_of(rows.begin(), rows.end(), [](const TrainingRow& row) { return row.nodes <= 2; });
}

double deviation_of(const std::vector<double>& values) {
  double mean = 0, square = 0;
  for (const double each : values) mean += each / static_cast<double>(values.size());
  for (const double each : values)
    square += (each - mean) * (each - mean) / static_cast<double>(values.size());
  return std::sqrt(square);
}

}  // namespace

std::vector<bool> InputStall::stalled(std::span<const TrainingRow> rows, std::span<const double> seconds,
                                      const TrainingLaw& law) {
  std::vector<bool> out(rows.size(), false);
  if (law.of_jobs() || !on_one_and_two_nodes(rows)) return out;
  double could = 0, did = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!may_stall(rows[i])) continue;
    out[i] = std::log(seconds[i]) > law.log_seconds(rows[i]) + std::log(kSlowedBy);
    ++could, did += out[i];
  }
  if (did <= kOften * could) out.assign(rows.size(), false);
  return out;
}

std::optional<InputStall> InputStall::found(std::span<const TrainingRow> rows,
                                            std::span<const double> seconds,
                                            const std::vector<bool>& stalled) {
  InputStall out;
  std::vector<double> rates, batches;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.beyond_nodes_ = std::max(out.beyond_nodes_, rows[i].nodes);
    out.slowest_.emplace_back(rows[i].batch, seconds[i]);
    if (!stalled[i]) continue;
    batches.push_back(std::log(rows[i].batch));
    rates.push_back(batches.back() - std::log(seconds[i]));
  }
  if (rates.size() < 3 || deviation_of(rates) > kOfOneRate * deviation_of(batches)) return std::nullopt;
  out.rate_ = std::exp(*std::min_element(rates.begin(), rates.end()));
  std::sort(out.slowest_.begin(), out.slowest_.end());
  for (std::size_t i = 1; i < out.slowest_.size(); ++i)
    out.slowest_[i].second = std::max(out.slowest_[i].second, out.slowest_[i - 1].second);
  return out;
}

double InputStall::least(const TrainingRow& row) const {
  if (row.nodes <= beyond_nodes_ || slowest_.empty()) return 0;
  const auto after = std::upper_bound(slowest_.begin(), slowest_.end(),
                                      std::pair(row.batch, std::numeric_limits<double>::infinity()));
  const double slowest = after == slowest_.begin() ? after->second : std::prev(after)->second;
  return std::min(row.batch / rate_, kMost * slowest);
}

nlohmann::json InputStall::written() const {
  return {{"rate", rate_}, {"beyond_nodes", beyond_nodes_}, {"slowest", slowest_}};
}

InputStall InputStall::read(const nlohmann::json& from) {
  InputStall out;
  from.at("rate").get_to(out.rate_), from.at("beyond_nodes").get_to(out.beyond_nodes_);
  from.at("slowest").get_to(out.slowest_);
  return out;
}

}  // namespace tandem::stats
