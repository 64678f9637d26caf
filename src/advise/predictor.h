// One quantity as a function of a setting's columns, with the law of its errors.
//
// Of the regressions named, the one is used that predicts settings it has not seen with the smallest mean
// error; what was tried is kept. A setting that was run before is forecast with the errors of such ones, a
// new setting with those of new settings, one outside of the measured range with kOutside times those; so is
// one inside of it that no measured setting is near: each of its values was seen, but not together. A quantity
// with absolute errors (a metric) is not expected to be better or worse than all that were seen.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "advise/error_sizes.h"
#include "advise/forecast.h"
#include "advise/history.h"
#include "stats/regression/regression.h"

namespace tandem::advise {

inline constexpr double kOutside = 2;
inline constexpr double kNear = 0.5;  // of a column's range, on a logarithmic scale where it is positive

struct Judged {
  std::string regression;
  double error = 0;     // mean of |error| on settings not seen; infinite where it could not be used
  std::string refused;  // why it could not, if so
};

// Of the regressions there are, those worth trying by default, the preferred one first.
std::vector<std::string> default_regressions();

struct PredictorOptions {
  ErrorKind kind = ErrorKind::relative;
  std::vector<std::string> regressions = default_regressions();
  std::uint64_t seed = 1;
  // How many rows, from the first, were measured: what a probe only guesses is learnt from, but its errors
  // are no evidence.
  std::size_t measured = static_cast<std::size_t>(-1);
};

class Predictor {
 public:
  Predictor() = default;
  // Rows as `columns` says, one target each. UserError where there are none, or no regression takes them.
  static Predictor fit(const Columns& columns, std::span<const double> rows, std::span<const double> targets,
                       const PredictorOptions&);

  Forecast forecast(const std::vector<double>& row) const;
  // Where a row lies outside of what was learnt, as "cores 16 (measured: 2 to 8)".
  std::vector<std::string> outside(const std::vector<double>& row) const;
  const Columns& columns() const { return columns_; }
  const std::vector<Judged>& judged() const { return judged_; }  // the chosen one first
  double error() const { return judged_.front().error; }
  const ErrorLaw& law() const { return *unseen_; }

  nlohmann::json written() const;
  static Predictor read(const nlohmann::json&);

 private:
  void learn_errors(std::span<const double> rows, std::span<const double> targets, std::size_t measured,
                    std::uint64_t seed);
  bool near_measured(const std::vector<double>& row) const;
  void remember(std::span<const double> measured, std::span<const double> all);

  Columns columns_;
  ErrorKind kind_ = ErrorKind::relative;
  std::shared_ptr<const stats::Regression> model_;
  ErrorSizes sizes_;
  std::shared_ptr<const ErrorLaw> seen_, unseen_;  // of settings that were run before, and of new ones
  std::vector<std::vector<double>> settings_;      // those that were run, sorted
  std::vector<double> low_, high_;                 // by column
  double least_ = -kNoBound, most_ = kNoBound;     // of what is expected
  std::vector<Judged> judged_;
};

}  // namespace tandem::advise
