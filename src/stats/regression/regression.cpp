#include "stats/regression/regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/text.h"
#include "stats/regression/boosted_regression.h"
#include "stats/regression/forest.h"
#include "stats/regression/linear_regression.h"
#include "stats/regression/product_regression.h"
#include "stats/regression/queueing_model.h"
#include "stats/training/physical_model.h"

namespace tandem::stats {
namespace {

const RegressionEntry& entry_of(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : regressions()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw UserError(fmt::format("there is no regression '{}'{}; there are: {}", printable(name, 60),
                              did_you_mean(name, names), join(names)));
}

double number_of(const std::string& word, const std::string& written) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    throw UserError(
        fmt::format("'{}' in '{}' is not a number", printable(word, 60), printable(written, 120)));
  return value;
}

}  // namespace

std::vector<double> Regression::predict_rows(std::span<const double> rows, std::size_t columns) const {
  std::vector<double> out;
  for (std::size_t at = 0; at + columns <= rows.size() && columns > 0; at += columns)
    out.push_back(predict(rows.subspan(at, columns)));
  return out;
}

Bounded Regression::bounded(std::span<const double> row) const {
  return {predict(row)};
}

void Regression::set(const std::string& option, double) {
  refuse_option(option, {});
}

void refuse_option(const std::string& option, const std::vector<RegressionOption>& known) {
  std::vector<std::string> names;
  for (const auto& each : known) names.push_back(each.name);
  throw UserError(fmt::format("this regression has no option '{}'{}; it has {}", printable(option, 60),
                              did_you_mean(option, names), names.empty() ? "none" : join(names)));
}

int whole_option(const std::string& option, double value, int low, int high) {
  if (!(value >= low && value <= high) || value != std::floor(value))
    throw UserError(
        fmt::format("{} = {} cannot be: it is a whole number from {} to {}", option, value, low, high));
  return static_cast<int>(value);
}

void check_training(std::span<const double> rows, std::span<const double> targets,
                    const std::vector<std::string>& columns) {
  if (targets.empty()) throw UserError("there is nothing a regression could learn from: no rows");
  if (rows.size() != targets.size() * columns.size())
    throw UserError(fmt::format("{} values in rows do not fit {} targets and {} columns of a regression",
                                rows.size(), targets.size(), columns.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!std::isfinite(rows[i]))
      throw UserError(fmt::format("row {} of a regression has {} in column '{}': leave such rows out",
                                  i / columns.size() + 1, rows[i],
                                  printable(columns[i % columns.size()], 60)));
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!std::isfinite(targets[i]))
      throw UserError(
          fmt::format("the target of row {} of a regression is {}: leave such rows out", i + 1, targets[i]));
}

const std::vector<RegressionEntry>& regressions() {
  static const std::vector<RegressionEntry> table = {
      {"linear", "least squares", make_linear},
      {"anova", "least squares with all interactions", make_anova, anova_options()},
      {"ridge", "with pairs, large slopes made dear", make_ridge, penalised_options()},
      {"lasso", "with pairs, useless ones left out", make_lasso, penalised_options()},
      {"forest", "trees grown from drawn rows, averaged", make_forest, forest_options()},
      {"boosting", "trees that correct each other, by XGBoost", make_boosting, boosting_options()},
      {"queueing", "operational laws: steps that compute and wait for a shared disk (Courier)", make_queueing,
       queueing_options()},
      {"physical", "a law of training time, times what it leaves over, learnt", make_physical,
       physical_options()},
  };
  return table;
}

std::unique_ptr<Regression> make_regression(const std::string& name,
                                            const std::vector<std::string>& columns) {
  std::istringstream in(name);
  std::string kind;
  std::getline(in, kind, ':');
  auto out = entry_of(kind).make(columns);
  for (std::string word; std::getline(in, word, ':');) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      throw UserError(fmt::format("'{}' in '{}' is not an option: write NAME=NUMBER", printable(word, 60),
                                  printable(name, 120)));
    out->set(word.substr(0, equals), number_of(word.substr(equals + 1), name));
  }
  return out;
}

std::unique_ptr<Regression> read_regression(const nlohmann::json& written) {
  try {
    auto out = entry_of(written.at("regression").get<std::string>())
                   .make(written.at("columns").get<std::vector<std::string>>());
    out->read(written);
    return out;
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("a stored regression cannot be read ({}): train it anew", error.what()));
  }
}

}  // namespace tandem::stats
