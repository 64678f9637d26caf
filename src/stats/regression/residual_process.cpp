#include "stats/regression/residual_process.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "stats/numeric/matern.h"

namespace tandem::stats {

double ResidualProcess::predict(std::span<const double> row, const LawShares& shares) const {
  const std::size_t count = columns_.size(), n = weights_.size();
  double out = 0;
  std::vector<double> closeness;  // to each level of each column, one part after the other
  std::vector<std::size_t> begin(count);
  for (const auto& part : parts_) {
    closeness.clear();
    for (std::size_t c = 0; c < count; ++c) {
      const auto& column = columns_[c];
      begin[c] = closeness.size();
      const double raw = row[column.at];
      // A column that was always positive and no longer is lies as far away as can be: nothing is known
      // there.
      const bool outside = column.logarithm && raw <= 0;
      const double at = outside ? 0 : (column.logarithm ? std::log(raw) : raw) / column.scale;
      for (const double level : column.levels)
        closeness.push_back(part.lengths[c] == 0 ? 1 : outside ? 0 : matern((at - level) / part.lengths[c]));
    }
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double product = weights_[i] * exposure(part.acts, shares_[i]);
      for (std::size_t c = 0; c < count; ++c) product *= closeness[begin[c] + level_of_[i * count + c]];
      sum += product;
    }
    out += part.size * exposure(part.acts, shares) * sum;
  }
  return out;
}

nlohmann::json ResidualProcess::written() const {
  nlohmann::json columns = nlohmann::json::array(), parts = nlohmann::json::array(),
                 shares = nlohmann::json::array();
  for (const auto& each : columns_)
    columns.push_back(
        {{"at", each.at}, {"logarithm", each.logarithm}, {"scale", each.scale}, {"levels", each.levels}});
  for (const auto& each : parts_)
    parts.push_back({{"acts", each.acts}, {"size", each.size}, {"lengths", each.lengths}});
  for (const auto& each : shares_) shares.push_back({each.host, each.device, each.sync});
  return {{"columns", columns},  {"parts", parts},   {"rows", level_of_},
          {"weights", weights_}, {"shares", shares}, {"noise", noise_}};
}

void ResidualProcess::read(const nlohmann::json& from, std::size_t width) {
  columns_.clear(), parts_.clear(), shares_.clear();
  for (const auto& each : from.at("columns"))
    columns_.push_back({each.at("at"), each.at("logarithm"), each.at("scale"), each.at("levels")});
  for (const auto& each : from.at("parts"))
    parts_.push_back({each.at("acts"), each.at("size"), each.at("lengths")});
  from.at("rows").get_to(level_of_), from.at("weights").get_to(weights_), from.at("noise").get_to(noise_);
  for (const auto& each : from.at("shares")) shares_.push_back({each.at(0), each.at(1), each.at(2)});
  bool fits = level_of_.size() == weights_.size() * columns_.size() && shares_.size() == weights_.size();
  for (const auto& column : columns_) fits = fits && column.at < width;
  for (const auto& part : parts_) fits = fits && part.lengths.size() == columns_.size();
  for (std::size_t i = 0; fits && i < level_of_.size(); ++i)
    fits = level_of_[i] < columns_[i % columns_.size()].levels.size();
  if (!fits) throw UserError("a stored residual does not fit together: train the model anew");
}

}  // namespace tandem::stats
