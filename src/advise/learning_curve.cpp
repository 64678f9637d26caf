#include "advise/learning_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "advise/predictor.h"
#include "base/error.h"

namespace tandem::advise {
namespace {

const std::vector<std::string> kShapes = {"saturation", "steep", "slow"};
const std::vector<std::string> kParts = {"log batch", "log rate", "shape", "shape by batch", "shape by rate"};
constexpr std::size_t kMostFolds = 10;
constexpr EpochCorrection::Kind kCorrections[] = {
    EpochCorrection::Kind::none, EpochCorrection::Kind::by_epoch, EpochCorrection::Kind::by_epoch_and_batch};

double shape_at(const std::string& shape, double x) {
  if (shape == "saturation") return std::exp(-x);
  return shape == "steep" ? 1 / (1 + x) : 1 / std::sqrt(1 + x);
}

void check_point(const CurvePoint& point) {
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(point.batch) || !positive(point.learning_rate) || !positive(point.epoch) ||
      !std::isfinite(point.metric))
    throw UserError(fmt::format(
        "a learning curve cannot go through metric {} at epoch {} with batch {} and learning rate {}",
        point.metric, point.epoch, point.batch, point.learning_rate));
}

bool long_enough(std::span<const CurvePoint> points) {
  std::map<std::size_t, std::size_t> count;
  for (const auto& point : points)
    if (++count[point.run] >= LearningCurve::kFewestPoints) return true;
  return false;
}

// Which fold each run is in: runs of one batch size and learning rate together, so that errors are those of
// settings not seen; where all have the same, each run by itself.
std::vector<std::size_t> folds_of(std::span<const CurvePoint> points) {
  using Setting = std::tuple<double, double, std::size_t>;
  const bool alike = std::all_of(points.begin(), points.end(), [&](const CurvePoint& point) {
    return point.batch == points[0].batch && point.learning_rate == points[0].learning_rate;
  });
  const auto setting = [&](const CurvePoint& point) {
    return Setting(point.batch, point.learning_rate, alike ? point.run : 0);
  };
  std::map<Setting, std::size_t> known;
  for (const auto& point : points) known.emplace(setting(point), 0);
  std::size_t next = 0;
  for (auto& [of, fold] : known) fold = next++ % kMostFolds;
  std::vector<std::size_t> out;
  for (const auto& point : points) out.push_back(known.at(setting(point)));
  return out;
}

}  // namespace

struct LearningCurve::Fit {
  std::shared_ptr<const stats::Regression> parts;
  double squares = 0;
};

namespace {

std::array<double, 5> row_of(double batch, double learning_rate, double shape) {
  const double b = std::log(batch), l = std::log(learning_rate);
  return {b, l, shape, shape * b, shape * l};
}

}  // namespace

LearningCurve::Fit LearningCurve::fit_rate(std::span<const CurvePoint> points, const std::string& shape,
                                           const Rate& rate) {
  std::vector<double> rows, targets;
  for (const auto& p : points) {
    const double log_rate =
        rate.constant + rate.by_batch * std::log(p.batch) + rate.by_learning_rate * std::log(p.learning_rate);
    const auto row = row_of(p.batch, p.learning_rate, shape_at(shape, std::exp(log_rate) * p.epoch));
    rows.insert(rows.end(), row.begin(), row.end());
    targets.push_back(p.metric);
  }
  auto model = stats::make_regression("linear", kParts);
  model->fit(rows, targets);
  Fit out;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double off = targets[i] - model->predict(std::span(rows).subspan(i * kParts.size(), kParts.size()));
    out.squares += off * off;
  }
  out.parts = std::move(model);
  return out;
}

// A coarse grid, then steps that halve: end and gap are solved for exactly at each try.
LearningCurve::Rate LearningCurve::find_rate(std::span<const CurvePoint> points, const std::string& shape) {
  std::set<double> batches, rates;
  double last = 1;
  for (const auto& p : points)
    batches.insert(p.batch), rates.insert(p.learning_rate), last = std::max(last, p.epoch);
  Rate best;
  double least = std::numeric_limits<double>::infinity();
  const auto attempt = [&](const Rate& rate) {
    const double squares = fit_rate(points, shape, rate).squares;
    if (!(squares < least)) return false;
    least = squares;
    best = rate;
    return true;
  };
  for (double x = 0.1; x < 20 * last; x *= 1.6) attempt({std::log(x / last), 0, 0});
  for (double step = 0.4; step > 0.02; step /= 2)
    for (bool better = true; better;) {
      better = false;
      for (const double by : {step, -step}) {
        better |= attempt({best.constant + by, best.by_batch, best.by_learning_rate});
        const double middle = std::log(*batches.rbegin() * *batches.begin()) / 2;  // turn, do not shift
        if (batches.size() > 1 && std::abs(best.by_batch + by / 2) <= 1.5)
          better |= attempt({best.constant - by / 2 * middle, best.by_batch + by / 2, best.by_learning_rate});
        const double centre = std::log(*rates.rbegin() * *rates.begin()) / 2;
        if (rates.size() > 1 && std::abs(best.by_learning_rate + by / 2) <= 1.5)
          better |= attempt({best.constant - by / 2 * centre, best.by_batch, best.by_learning_rate + by / 2});
      }
    }
  return best;
}

LearningCurve LearningCurve::fit_shape(std::span<const CurvePoint> points, const std::string& shape,
                                       EpochCorrection::Kind kind) {
  LearningCurve out;
  out.shape_ = shape;
  out.rate_ = find_rate(points, shape);
  out.parts_ = fit_rate(points, shape, out.rate_).parts;
  std::vector<LeftOver> left;
  for (const auto& p : points)
    left.push_back({p.batch, p.epoch, p.metric - out.at(p.batch, p.learning_rate, p.epoch)});
  out.correction_ = EpochCorrection(kind, left);
  return out;
}

double LearningCurve::at(double batch, double learning_rate, double epoch) const {
  const double log_rate =
      rate_.constant + rate_.by_batch * std::log(batch) + rate_.by_learning_rate * std::log(learning_rate);
  const auto row = row_of(batch, learning_rate, shape_at(shape_, std::exp(log_rate) * epoch));
  return parts_->predict(row) + correction_.at(batch, epoch);
}

std::vector<double> LearningCurve::errors_left_out(std::span<const CurvePoint> points,
                                                   const std::string& shape, EpochCorrection::Kind kind) {
  const auto folds = folds_of(points);
  const auto last = *std::max_element(folds.begin(), folds.end());
  if (last == 0) return {};
  std::vector<double> errors(points.size());
  for (std::size_t fold = 0; fold <= last; ++fold) {
    std::vector<CurvePoint> others;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (folds[i] != fold) others.push_back(points[i]);
    const auto curve = fit_shape(others, shape, kind);
    for (std::size_t i = 0; i < points.size(); ++i)
      if (folds[i] == fold)
        errors[i] = points[i].metric - curve.at(points[i].batch, points[i].learning_rate, points[i].epoch);
  }
  return errors;
}

void LearningCurve::remember(std::span<const CurvePoint> points) {
  const auto& first = points.front();
  batch_ = {first.batch, first.batch};
  learning_rate_ = {first.learning_rate, first.learning_rate};
  metric_ = {first.metric, first.metric};
  for (const auto& p : points) {
    batch_.include(p.batch);
    learning_rate_.include(p.learning_rate);
    metric_.include(p.metric);
    last_epoch_ = std::max(last_epoch_, p.epoch);
  }
}

void LearningCurve::learn_errors(std::span<const CurvePoint> points, std::vector<double> errors) {
  double sum = 0, level = 0;
  std::vector<double> epochs;
  for (const auto& p : points) {
    epochs.push_back(p.epoch);
    level += std::abs(p.metric) / static_cast<double>(points.size());
  }
  std::map<std::size_t, std::size_t> last;  // of each run, its last point
  for (std::size_t i = 0; i < points.size(); ++i)
    if (const auto [at, first] = last.emplace(points[i].run, i);
        !first && points[at->second].epoch < points[i].epoch)
      at->second = i;
  for (const auto& [run, i] : last) sum += errors.empty() ? 0 : std::abs(errors[i]);
  if (!errors.empty()) error_ = sum / static_cast<double>(last.size());
  std::map<std::size_t, double> worst;  // by run
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (auto& of_run = worst[points[i].run]; std::abs(errors[i]) > std::abs(of_run)) of_run = errors[i];
  if (worst.size() >= kFewRuns) {
    sizes_ = ErrorSizes({"epoch"}, epochs, errors);
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] /= sizes_.at(std::span(epochs).subspan(i, 1));
  } else {
    errors.clear();
    for (const auto& [run, error] : worst) errors.push_back(error);
  }
  law_ = std::make_shared<const ErrorLaw>(std::move(errors), std::max(kPriorShare * level, 1e-9));
}

std::optional<LearningCurve> LearningCurve::fit(std::span<const CurvePoint> points) {
  for (const auto& point : points) check_point(point);
  if (!long_enough(points)) return std::nullopt;
  std::string best = "steep";  // what one run gets: no run can be left out
  auto best_kind = EpochCorrection::Kind::none;
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> errors;
  for (const auto& shape : kShapes)
    for (const auto kind : kCorrections) {
      auto left_out = errors_left_out(points, shape, kind);
      double sum = 0;
      for (const double error : left_out) sum += std::abs(error);
      if (left_out.empty() || !(sum < least)) continue;
      least = sum;
      best = shape;
      best_kind = kind;
      errors = std::move(left_out);
    }
  auto out = fit_shape(points, best, best_kind);
  out.remember(points);
  out.learn_errors(points, std::move(errors));
  return out;
}

Forecast LearningCurve::forecast(double batch, double learning_rate, double epoch) const {
  Forecast out;
  const double near_batch = batch_.held(batch), near_rate = learning_rate_.held(learning_rate);
  const double doublings = std::abs(std::log2(batch / near_batch)) + std::abs(std::log2(learning_rate / near_rate));
  const double known = std::min(epoch, last_epoch_);
  const double seen = metric_.held(at(near_batch, near_rate, known));
  out.middle = seen + at(near_batch, near_rate, epoch) - at(near_batch, near_rate, known);
  out.kind = ErrorKind::absolute;
  const bool beyond = doublings > 0 || epoch > last_epoch_;
  out.usual_error = sizes_.at({&known, 1}) * (beyond ? kOutside : 1) * (1 + doublings);
  out.law = law_;
  out.wide = beyond || law_->few();
  out.said_by = "learning curve (" + shape_ + correction_.text() + ")" +
                (doublings > 0 ? ", held to what was measured" : "");
  return out;
}

nlohmann::json LearningCurve::written() const {
  return {{"shape", shape_},
          {"rate", {rate_.constant, rate_.by_batch, rate_.by_learning_rate}},
          {"parts", parts_->written()},
          {"correction", correction_.written()},
          {"error", error_ ? nlohmann::json(*error_) : nlohmann::json()},
          {"sizes", sizes_.written()},
          {"law", law_->written()},
          {"seen",
           {{batch_.low, batch_.high},
            {learning_rate_.low, learning_rate_.high},
            {metric_.low, metric_.high},
            {1, last_epoch_}}}};
}

LearningCurve LearningCurve::read(const nlohmann::json& written) {
  LearningCurve out;
  written.at("shape").get_to(out.shape_);
  const auto& rate = written.at("rate");
  out.rate_ = {rate.at(0).get<double>(), rate.at(1).get<double>(), rate.at(2).get<double>()};
  out.parts_ = stats::read_regression(written.at("parts"));
  out.correction_ = EpochCorrection::read(written.at("correction"));
  if (!written.at("error").is_null()) out.error_ = written.at("error").get<double>();
  out.sizes_ = ErrorSizes::read(written.at("sizes"));
  out.law_ = std::make_shared<const ErrorLaw>(ErrorLaw::read(written.at("law")));
  const auto& seen = written.at("seen");
  const auto range = [&](std::size_t i) { return Range{seen.at(i).at(0).get<double>(), seen.at(i).at(1).get<double>()}; };
  out.batch_ = range(0), out.learning_rate_ = range(1), out.metric_ = range(2);
  out.last_epoch_ = range(3).high;
  return out;
}

}  // namespace tandem::advise
