// Intervals around the predictions of any regression that hold as often as they say.
//
//     Conformal times(maker("forest", columns));
//     times.fit({rows, seconds, columns.size()});
//     const Outcome soon = times.at(row);
//     soon.interval(0.9), soon.quantile(0.95), soon.probability_at_most(300)
//
// Every row is predicted by a model that has not seen it (cross_validation.h); how far off those predictions
// were is how far off the next one will be (cross-conformal prediction, Vovk 2015; its distribution, Vovk and
// others 2019). Nothing is assumed of the errors but that the next run is drawn like the ones seen: a row far
// from all of them gets an interval that may be too narrow.
//
// Errors are measured in a scale of the row. Where all targets and held-out predictions are positive (times,
// energies) they are logarithms of ratios, so an interval is never negative; else differences. On top of
// that, their size is regressed on the columns and the prediction, cross-fitted over the same folds; it is
// used only where it predicts the size of held-out errors better than one number for all does, and never
// beyond the sizes seen.
//
// Of n errors the i-th smallest stands for the share i / (n + 1), between two of them on a line. The shares
// below 1 / (n + 1) and above n / (n + 1) are not known: bounds there are infinite. So a two-sided 90 %
// interval needs 19 rows; from 9 on it is made of absolute errors, the same on both sides; with fewer it is
// infinite, which is what is known. Deterministic; pure; one owner.
#pragma once

#include <optional>

#include "stats/regression/cross_validation.h"

namespace tandem::stats {

struct Interval {
  double low = 0, high = 0;
};

// Errors of held-out predictions in units of their rows' scale; ascending.
struct ConformalErrors {
  std::vector<double> with_sign{}, absolute{};
  bool ratios = false;  // logarithms of truth / prediction; else truth - prediction
};

// What is to be expected of one row. Points into the Conformal it came from: do not keep it longer.
class Outcome {
 public:
  Outcome(double estimate, double scale, const ConformalErrors& errors)
      : estimate_(estimate), scale_(scale), errors_(&errors) {}

  double estimate() const { return estimate_; }
  // The outcome is inside with this probability, equally likely above as below. UserError: not between 0
  // and 1.
  Interval interval(double level) const;
  // The outcome is at most this with probability `share`: one side. UserError: not between 0 and 1.
  double quantile(double share) const;
  // At most n / (n + 1), and 0 below the smallest error seen: a promise is not made of what was never seen.
  double probability_at_most(double x) const;

 private:
  double shifted(double error) const;  // the outcome if the error is such
  bool meaningless() const { return errors_->ratios && !(estimate_ > 0); }  // no ratio to such a prediction

  double estimate_, scale_;
  const ConformalErrors* errors_;
};

class Conformal {
 public:
  explicit Conformal(MakeRegression make) : make_(std::move(make)) {}

  // The model learns from all rows, and once for each fold without it. One row, or one group: the model
  // learns, and intervals are infinite. UserError as Regression::fit.
  void fit(const Examples&, const Folding& = {});

  // After `fit` or `read`.
  Outcome at(std::span<const double> row) const;
  std::vector<Outcome> at_rows(std::span<const double> rows, std::size_t columns) const;
  const Regression& model() const { return *model_; }

  nlohmann::json written() const;
  static Conformal read(const nlohmann::json& written);  // UserError where it is not that

 private:
  void learn_scale(const Examples&, const Folding&, std::span<const double> predicted,
                   std::span<const double> errors);
  double scale_of(std::span<const double> row, double prediction) const;

  MakeRegression make_;  // none after `read`: it has learnt
  std::unique_ptr<Regression> model_{};
  std::unique_ptr<Regression> log_size_{};  // of an error; none: the same for all rows
  Interval sizes_{0, 0};                    // logarithms of the least and the largest seen
  ConformalErrors errors_{};
};

}  // namespace tandem::stats
