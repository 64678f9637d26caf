// A metric as a curve in epochs, for any batch size and learning rate.
//
//     metric(epoch) = end - gap · shape(rate · epoch)
//
// Shapes: `saturation` e^-x, and the power laws `steep` 1/(1+x) and `slow` 1/sqrt(1+x); the one is used that
// predicts runs it has not seen best. `end` and `gap` are linear, and log(rate) is, in log(batch) and
// log(learning rate): runs at a few batch sizes say something of those between. It goes either way: accuracy
// rises, a loss falls. What runs have in common beyond that (a scheduled drop of the learning rate) is learnt
// as a correction by epoch (epoch_correction.h), where that predicts better. Errors are those of whole runs
// left out, in units that depend on the epoch; with fewer than kFewRuns a run counts as one error, its
// largest.
//
// Beyond the batch sizes and learning rates that were run a curve says nothing: the answer is that of the
// nearest that was, and its error grows with every doubling in between. Nor is a run expected to come out
// better or worse than all that were seen, unless it goes on for longer. Deterministic; pure.
#pragma once

#include <algorithm>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/epoch_correction.h"
#include "advise/error_sizes.h"
#include "advise/forecast.h"

namespace tandem::advise {

struct CurvePoint {
  double batch = 1, learning_rate = 1;  // 1: not known, or all the same
  double epoch = 1, metric = 0;
  std::size_t run = 0;  // points of one run belong together
};

class LearningCurve {
 public:
  static constexpr std::size_t kFewestPoints = 4, kFewRuns = 5;
  // nullopt where no run has kFewestPoints epochs: fewer say nothing of a curve. UserError: a batch, learning
  // rate or epoch that is not positive, a metric that is not finite.
  static std::optional<LearningCurve> fit(std::span<const CurvePoint>);

  Forecast forecast(double batch, double learning_rate, double epoch) const;
  const std::string& shape() const { return shape_; }  // saturation, steep or slow
  std::optional<double> error() const {
    return error_;
  }  // mean of |error| at the end of runs left out; nullopt: one run

  nlohmann::json written() const;
  static LearningCurve read(const nlohmann::json&);

 private:
  struct Rate {  // log(rate) at batch 1 and learning rate 1, and how it changes with their logarithms
    double constant = 0, by_batch = 0, by_learning_rate = 0;
  };
  struct Range {
    double low = 1, high = 1;
    void include(double value) { low = std::min(low, value), high = std::max(high, value); }
    double held(double value) const { return std::clamp(value, low, high); }
  };
  struct Fit;
  static LearningCurve fit_shape(std::span<const CurvePoint>, const std::string& shape,
                                 EpochCorrection::Kind);
  static Fit fit_rate(std::span<const CurvePoint>, const std::string& shape, const Rate&);
  static Rate find_rate(std::span<const CurvePoint>, const std::string& shape);
  double at(double batch, double learning_rate, double epoch) const;
  void remember(std::span<const CurvePoint>);
  void learn_errors(std::span<const CurvePoint>, std::vector<double> errors);
  static std::vector<double> errors_left_out(std::span<const CurvePoint>, const std::string& shape,
                                             EpochCorrection::Kind);

  std::string shape_;
  Rate rate_;
  std::shared_ptr<const stats::Regression> parts_;  // end and gap
  EpochCorrection correction_;
  std::optional<double> error_;
  ErrorSizes sizes_;
  std::shared_ptr<const ErrorLaw> law_;
  Range batch_, learning_rate_, metric_;  // what was seen
  double last_epoch_ = 1;
};

}  // namespace tandem::advise
