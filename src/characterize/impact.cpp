#include "characterize/impact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/design/anova.h"

namespace tandem::characterize {
namespace {

bool others_usual(const Study& study, const Setting& setting, const std::string& factor) {
  return std::all_of(study.factors.begin(), study.factors.end(), [&](const Factor& other) {
    return other.name == factor || same(setting.at.at(other.name), other.usual);
  });
}

std::vector<Value> levels_of(const std::vector<Setting>& all, const std::string& factor) {
  std::vector<Value> out;
  for (const auto& setting : all) out.push_back(setting.at.at(factor));
  std::sort(out.begin(), out.end(), before);
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

// Where each observation belongs: levels, or thirds of numbers of many values.
class Grouping {
 public:
  Grouping(const std::vector<Setting>& all, const std::string& factor) : factor_(factor) {
    levels_ = levels_of(all, factor);
    const bool numbers =
        std::all_of(levels_.begin(), levels_.end(), [](const Value& v) { return !!as_number(v); });
    thirds_ = numbers && levels_.size() > kMostLevels;
  }
  std::size_t count() const { return thirds_ ? 3 : levels_.size(); }
  std::size_t of(const Setting& setting) const {
    const auto at = static_cast<std::size_t>(
        std::lower_bound(levels_.begin(), levels_.end(), setting.at.at(factor_), before) - levels_.begin());
    return thirds_ ? at * 3 / levels_.size() : at;
  }
  std::string name(std::size_t group) const {
    if (!thirds_) return text(levels_[group]);
    const std::size_t n = levels_.size();
    const auto first = (group * n + 2) / 3, end = ((group + 1) * n + 2) / 3;
    return fmt::format("{} to {}", text(levels_[first]), text(levels_[end - 1]));
  }

 private:
  std::string factor_;
  std::vector<Value> levels_;
  bool thirds_ = false;
};

// The p of the factor among the observations, beside the other factors that vary there.
std::optional<double> p_of(const Study& study, const std::vector<Setting>& used, const std::string& factor,
                           const Grouping& grouping) {
  std::vector<double> response, own;
  std::map<std::string, std::vector<std::string>> others;
  for (const auto& setting : used)
    for (const double value : setting.observations) {
      response.push_back(value), own.push_back(static_cast<double>(grouping.of(setting)));
      for (const auto& other : study.factors)
        if (other.name != factor) others[other.name].push_back(text(setting.at.at(other.name)));
    }
  std::vector<stats::Variable> variables{stats::factor(factor, own)};
  for (auto& [name, words] : others) {
    auto variable = stats::factor(name, words);
    if (variable.levels.size() > 1 && variable.levels.size() <= kMostLevels)
      variables.push_back(std::move(variable));
  }
  return stats::anova(variables, response, {2, 1}).rows[0].p;
}

void grade(Impact& impact, const Response& response) {
  const auto by_value = [](const LevelMean& a, const LevelMean& b) { return a.mean.value < b.mean.value; };
  const auto [lowest, highest] = std::minmax_element(impact.levels.begin(), impact.levels.end(), by_value);
  const double low = lowest->mean.value, high = highest->mean.value;
  const double size = std::max(std::abs(low), std::abs(high));
  impact.variation = size > 0 ? (high - low) / size : 0;
  impact.grade = grade_of(*impact.variation, response.quality ? kQuality : kPerformance);
}

Impact impact_of(const Study& study, const std::vector<Setting>& all, const Factor& factor,
                 const Response& response) {
  Impact out{factor.name, response.name};
  std::vector<Setting> alone;
  for (const auto& setting : all)
    if (others_usual(study, setting, factor.name)) alone.push_back(setting);
  out.averaged = levels_of(alone, factor.name).size() < levels_of(all, factor.name).size();
  const auto& used = out.averaged ? all : alone;
  const Grouping grouping(used, factor.name);
  if (grouping.count() < 2) {
    out.note = all.empty() ? fmt::format("no run has {}", response.name)
                           : fmt::format("{} was the same in all runs", factor.name);
    return out;
  }
  std::vector<std::vector<double>> groups(grouping.count());
  for (const auto& setting : used)
    for (const double value : setting.observations) groups[grouping.of(setting)].push_back(value);
  for (std::size_t g = 0; g < groups.size(); ++g)
    out.levels.push_back({grouping.name(g), mean_of(groups[g])});
  grade(out, response);
  out.p = p_of(study, used, factor.name, grouping);
  if (!out.p) out.note = "without more replications nobody can tell this from noise";
  return out;
}

}  // namespace

const char* name(Grade grade) {
  return grade == Grade::high ? "high" : grade == Grade::medium ? "medium" : "low";
}

Grade grade_of(double variation, const Thresholds& thresholds) {
  if (variation > thresholds.high) return Grade::high;
  return variation >= thresholds.medium ? Grade::medium : Grade::low;
}

std::vector<Impact> impacts(const Study& study) {
  check(study);
  std::vector<Impact> out;
  for (const auto& response : study.responses) {
    const auto all = settings(study, response.name);
    for (const auto& factor : study.factors) out.push_back(impact_of(study, all, factor, response));
  }
  return out;
}

}  // namespace tandem::characterize
