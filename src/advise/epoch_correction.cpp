#include "advise/epoch_correction.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace tandem::advise {
namespace {

const double kDoubling = std::log(2.0);  // of the batch size: what a slope's prior is worth

}  // namespace

EpochCorrection::EpochCorrection(Kind kind, std::span<const LeftOver> left) : kind_(kind) {
  if (kind == Kind::none) return;
  std::map<double, std::vector<LeftOver>> epochs;
  for (const auto& point : left) epochs[point.epoch].push_back(point);
  for (const auto& [epoch, points] : epochs) {
    if (points.size() < kFewestRuns) continue;
    const auto count = static_cast<double>(points.size());
    double mean = 0, middle = 0, both = 0, squares = kDoubling * kDoubling;
    for (const auto& point : points) mean += point.metric / count, middle += std::log(point.batch) / count;
    for (const auto& point : points) {
      const double off = std::log(point.batch) - middle;
      both += off * (point.metric - mean);
      squares += off * off;
    }
    by_epoch_[epoch] = {mean * count / (count + 1), kind == Kind::by_epoch ? 0 : both / squares, middle};
  }
}

double EpochCorrection::at(double batch, double epoch) const {
  if (by_epoch_.empty()) return 0;
  const double log_batch = std::log(batch);
  const auto after = by_epoch_.lower_bound(epoch);
  if (after == by_epoch_.end()) return by_epoch_.rbegin()->second.at(log_batch);
  if (after == by_epoch_.begin() || after->first == epoch) return after->second.at(log_batch);
  const auto before = std::prev(after);
  const double share = (epoch - before->first) / (after->first - before->first);
  return (1 - share) * before->second.at(log_batch) + share * after->second.at(log_batch);
}

std::string EpochCorrection::text() const {
  if (kind_ == Kind::none) return "";
  return kind_ == Kind::by_epoch ? ", corrected by epoch" : ", corrected by epoch and batch";
}

nlohmann::json EpochCorrection::written() const {
  nlohmann::json epochs = nlohmann::json::array();
  for (const auto& [epoch, line] : by_epoch_) epochs.push_back({epoch, line.level, line.slope, line.middle});
  return {{"kind", static_cast<int>(kind_)}, {"epochs", epochs}};
}

EpochCorrection EpochCorrection::read(const nlohmann::json& written) {
  EpochCorrection out;
  out.kind_ = static_cast<Kind>(written.at("kind").get<int>());
  for (const auto& each : written.at("epochs"))
    out.by_epoch_[each.at(0).get<double>()] = {each.at(1).get<double>(), each.at(2).get<double>(),
                                               each.at(3).get<double>()};
  return out;
}

}  // namespace tandem::advise
