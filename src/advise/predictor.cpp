#include "advise/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "stats/regression/cross_validation.h"

namespace tandem::advise {
namespace {

constexpr std::size_t kFolds = 10;
constexpr std::size_t kMostJudged = 2000;  // rows to choose a regression by; more would not change the choice
constexpr double kSmallestPrior = 1e-9;    // a prior of 0 would be certainty

struct Rows {
  std::size_t width = 0;
  std::span<const double> values, targets;

  std::size_t count() const { return targets.size(); }
  std::span<const double> row(std::size_t i) const { return values.subspan(i * width, width); }
};

std::vector<double> copy(std::span<const double> row) {
  return {row.begin(), row.end()};
}

// Each row's group: rows that are equal are of one.
std::vector<std::uint32_t> settings_of(const Rows& rows) {
  std::map<std::vector<double>, std::uint32_t> known;
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < rows.count(); ++i)
    out.push_back(known.emplace(copy(rows.row(i)), static_cast<std::uint32_t>(known.size())).first->second);
  return out;
}

std::size_t groups_in(const std::vector<std::uint32_t>& groups) {
  return *std::max_element(groups.begin(), groups.end()) + 1;
}

double error_of(ErrorKind kind, double actual, double predicted) {
  if (kind == ErrorKind::absolute) return actual - predicted;
  if (!(predicted > 0)) return std::numeric_limits<double>::infinity();  // such a model cannot be used
  return std::log(actual / predicted);
}

// The error of each row when its group was not learnt from; empty where there is but one group.
std::vector<double> errors_held_out(const std::string& regression, const Columns& columns, const Rows& rows,
                                    ErrorKind kind, const stats::Folding& folding) {
  if (groups_in(folding.groups) < 2) return {};
  const auto predicted = stats::cross_predict(stats::maker(regression, columns.names()),
                                              {rows.values, rows.targets, rows.width}, folding);
  std::vector<double> errors;
  for (std::size_t i = 0; i < rows.count(); ++i)
    errors.push_back(error_of(kind, rows.targets[i], predicted[i]));
  return errors;
}

double mean_size(const std::vector<double>& errors) {
  if (errors.empty()) return 0;
  double sum = 0;
  for (const double error : errors) sum += std::abs(error);
  return sum / static_cast<double>(errors.size());
}

Judged judge(const std::string& regression, const Columns& columns, const Rows& rows, ErrorKind kind,
             const stats::Folding& folding) {
  Judged out{.regression = regression};
  try {
    out.error = mean_size(errors_held_out(regression, columns, rows, kind, folding));
    if (!std::isfinite(out.error)) out.refused = "it predicts a value that cannot be";
  } catch (const UserError& error) {
    out.error = std::numeric_limits<double>::infinity();
    out.refused = error.what();
  }
  return out;
}

std::shared_ptr<const ErrorLaw> law_of(std::vector<double> errors, const Rows& rows, const ErrorSizes& sizes,
                                       double prior) {
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] /= sizes.at(rows.row(i));
  return std::make_shared<const ErrorLaw>(std::move(errors), prior);
}

}  // namespace

// Not boosting: XGBoost loads its model at each prediction, which takes milliseconds.
std::vector<std::string> default_regressions() {
  static const std::vector<std::string> worth_trying = {"physical", "forest", "linear"};
  std::vector<std::string> out;
  for (const auto& name : worth_trying)
    for (const auto& entry : stats::regressions())
      if (entry.name == name) out.push_back(name);
  return out;
}

namespace {

// Every so many-th of the measured rows, so that there are at most kMostJudged; what a probe guessed stays.
struct Sample {
  std::vector<double> values, targets;
  std::size_t measured = 0;
};

Sample sample_of(const Rows& rows, std::size_t measured) {
  const std::size_t stride = (measured + kMostJudged - 1) / std::max<std::size_t>(kMostJudged, 1);
  Sample out;
  for (std::size_t i = 0; i < rows.count(); ++i) {
    if (i < measured && i % std::max<std::size_t>(stride, 1) != 0) continue;
    out.values.insert(out.values.end(), rows.row(i).begin(), rows.row(i).end());
    out.targets.push_back(rows.targets[i]);
    if (i < measured) ++out.measured;
  }
  return out;
}

// Leaves those that refuse the data out, with what they said; UserError where none is left.
std::shared_ptr<const stats::Regression> fit_first(const Columns& columns, const Rows& rows,
                                                   std::vector<Judged>& judged) {
  for (auto& each : judged) {
    if (!each.refused.empty()) continue;
    try {
      auto model = stats::make_regression(each.regression, columns.names());
      model->fit(rows.values, rows.targets);
      return model;
    } catch (const UserError& error) {
      each.refused = error.what();
      each.error = std::numeric_limits<double>::infinity();
    }
  }
  std::string why;
  for (const auto& each : judged) why += fmt::format("; {}: {}", each.regression, each.refused);
  throw UserError("no regression can learn from the past runs" + why);
}

void best_first(std::vector<Judged>& judged) {
  std::stable_sort(judged.begin(), judged.end(),
                   [](const Judged& a, const Judged& b) { return a.error < b.error; });
}

double prior_of(ErrorKind kind, std::span<const double> targets) {
  if (kind == ErrorKind::relative) return kPriorDeviation;
  double sum = 0;
  for (const double target : targets) sum += std::abs(target);
  return std::max(kPriorShare * sum / static_cast<double>(targets.size()), kSmallestPrior);
}

}  // namespace

Predictor Predictor::fit(const Columns& columns, std::span<const double> rows,
                         std::span<const double> targets, const PredictorOptions& options) {
  stats::check_training(rows, targets, columns.names());
  Predictor out;
  out.columns_ = columns;
  out.kind_ = options.kind;
  const Rows all{columns.names().size(), rows, targets};
  const auto sampled = sample_of(all, std::min(options.measured, all.count()));
  const Rows some{all.width, sampled.values, sampled.targets};
  const stats::Folding folding{kFolds, options.seed, settings_of(some)};
  for (const auto& name : options.regressions)
    out.judged_.push_back(judge(name, columns, some, options.kind, folding));
  best_first(out.judged_);
  out.model_ = fit_first(columns, all, out.judged_);
  best_first(out.judged_);
  out.learn_errors(some.values, some.targets, sampled.measured, options.seed);
  if (options.kind == ErrorKind::absolute)
    std::tie(out.least_, out.most_) = std::pair(*std::min_element(targets.begin(), targets.end()),
                                                *std::max_element(targets.begin(), targets.end()));
  out.remember(rows.first(std::min(options.measured, all.count()) * all.width), rows);
  return out;
}

void Predictor::learn_errors(std::span<const double> values, std::span<const double> targets,
                             std::size_t measured, std::uint64_t seed) {
  const Rows rows{columns_.names().size(), values, targets};
  const auto& name = judged_.front().regression;
  stats::Folding folding{kFolds, seed, settings_of(rows)};
  auto unseen = errors_held_out(name, columns_, rows, kind_, folding);
  if (!unseen.empty()) unseen.resize(measured);
  sizes_ = ErrorSizes(columns_.names(), rows.values, unseen);
  const double prior = prior_of(kind_, targets);
  unseen_ = law_of(std::move(unseen), rows, sizes_, prior);
  seen_ = unseen_;
  if (groups_in(folding.groups) == rows.count()) return;  // no setting was run twice
  std::iota(folding.groups.begin(), folding.groups.end(), 0u);
  auto seen = errors_held_out(name, columns_, rows, kind_, folding);
  seen.resize(measured);
  seen_ = law_of(std::move(seen), rows, sizes_, prior);
}

void Predictor::remember(std::span<const double> measured, std::span<const double> all) {
  const std::size_t width = columns_.names().size();
  for (std::size_t at = 0; at + width <= measured.size() && width > 0; at += width)
    settings_.push_back(copy(measured.subspan(at, width)));
  std::sort(settings_.begin(), settings_.end());
  settings_.erase(std::unique(settings_.begin(), settings_.end()), settings_.end());
  low_ = high_ = copy(all.first(width));
  for (std::size_t i = 0; i < all.size(); ++i) {
    low_[i % width] = std::min(low_[i % width], all[i]);
    high_[i % width] = std::max(high_[i % width], all[i]);
  }
}

std::vector<std::string> Predictor::outside(const std::vector<double>& row) const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i] < low_[i] || row[i] > high_[i])
      out.push_back(fmt::format("{} {:.4g} (measured: {:.4g} to {:.4g})", columns_.names()[i], row[i],
                                low_[i], high_[i]));
  if (out.empty() && !near_measured(row)) out.push_back("no past run is near this combination");
  return out;
}

bool Predictor::near_measured(const std::vector<double>& row) const {
  if (settings_.empty()) return true;  // a probe's guesses are no places
  std::vector<double> at(row), range;
  const auto scaled = [&](std::size_t i, double value) { return low_[i] > 0 ? std::log(value) : value; };
  for (std::size_t i = 0; i < row.size(); ++i)
    at[i] = scaled(i, row[i]), range.push_back(kNear * (scaled(i, high_[i]) - scaled(i, low_[i])));
  return std::any_of(settings_.begin(), settings_.end(), [&](const std::vector<double>& setting) {
    for (std::size_t i = 0; i < at.size(); ++i)
      if (std::abs(scaled(i, setting[i]) - at[i]) > range[i]) return false;
    return true;
  });
}

Forecast Predictor::forecast(const std::vector<double>& row) const {
  Forecast out;
  const auto said = model_->bounded(row);
  out.middle = std::clamp(said.value, least_, most_);
  out.kind = kind_;
  const bool known = std::binary_search(settings_.begin(), settings_.end(), row);
  out.law = known ? seen_ : unseen_;
  out.usual_error = sizes_.at(row);
  const bool beyond = !outside(row).empty();
  if (beyond) out.usual_error *= kOutside;
  const bool held = said.held() || out.middle != said.value;
  out.wide = beyond || out.law->few() || held;
  out.said_by = judged_.front().regression + (held ? ", held to what was measured" : "");
  return out;
}

nlohmann::json Predictor::written() const {
  nlohmann::json judged = nlohmann::json::array();
  for (const auto& each : judged_)  // JSON has no infinity: null
    judged.push_back({{"regression", each.regression},
                      {"error", std::isfinite(each.error) ? nlohmann::json(each.error) : nlohmann::json()},
                      {"refused", each.refused}});
  return {{"columns", columns_.names()},
          {"machine_cores", columns_.machine_cores()},
          {"kind", kind_ == ErrorKind::relative ? "relative" : "absolute"},
          {"model", model_->written()},
          {"sizes", sizes_.written()},
          {"seen", seen_->written()},
          {"unseen", unseen_->written()},
          {"settings", settings_},
          {"low", low_},
          {"high", high_},
          {"expected", kind_ == ErrorKind::absolute ? nlohmann::json{least_, most_} : nlohmann::json()},
          {"judged", judged}};
}

Predictor Predictor::read(const nlohmann::json& written) {
  Predictor out;
  out.columns_ = Columns(written.at("columns").get<std::vector<std::string>>(), written.at("machine_cores"));
  out.kind_ = written.at("kind") == "relative" ? ErrorKind::relative : ErrorKind::absolute;
  out.model_ = stats::read_regression(written.at("model"));
  out.sizes_ = ErrorSizes::read(written.at("sizes"));
  out.seen_ = std::make_shared<const ErrorLaw>(ErrorLaw::read(written.at("seen")));
  out.unseen_ = std::make_shared<const ErrorLaw>(ErrorLaw::read(written.at("unseen")));
  out.settings_ = written.at("settings").get<std::vector<std::vector<double>>>();
  out.low_ = written.at("low").get<std::vector<double>>();
  out.high_ = written.at("high").get<std::vector<double>>();
  if (out.kind_ == ErrorKind::absolute)
    out.least_ = written.at("expected").at(0), out.most_ = written.at("expected").at(1);
  for (const auto& each : written.at("judged"))
    out.judged_.push_back({each.at("regression").get<std::string>(),
                           each.at("error").is_null() ? std::numeric_limits<double>::infinity()
                                                      : each.at("error").get<double>(),
                           each.at("refused").get<std::string>()});
  return out;
}

}  // namespace tandem::advise
