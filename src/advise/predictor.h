// One quantity as a function of a setting's columns, with the law of its errors.
//
// Of the regressions named, the one is used that predicts settings it has not seen with the smallest mean
// error; what was tried is kept. A setting that was run before is forecast with the errors of such ones, a
// new setting with those of new settings, one outside of the measured range with kOutside times those.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "advise/forecast.h"
#include "advise/history.h"
#include "stats/regression.h"

namespace tandem::advise {

inline constexpr double kOutside = 2;

struct Judged {
  std::string regression;
  double error = 0;     // mean of |error| on settings not seen; infinite where it could not be used
  std::string refused;  // why it could not, if so
};

// Of the regressions there are, those worth trying by default, the preferred one first.
std::vector<std::string> default_regressions();

class Predictor {
 public:
  Predictor() = default;
  // Rows as `columns` says, one target each. UserError where there are none.
  static Predictor fit(const Columns& columns, std::span<const double> rows, std::span<const double> targets,
                       ErrorKind, const std::vector<std::string>& regressions, std::uint64_t seed);

  Forecast forecast(const std::vector<double>& row) const;
  const Columns& columns() const { return columns_; }
  const std::vector<Judged>& judged() const { return judged_; }

  nlohmann::json written() const;
  static Predictor read(const nlohmann::json&);

 private:
  Columns columns_;
  ErrorKind kind_ = ErrorKind::relative;
  std::shared_ptr<const stats::Regression> model_, size_;  // `size_`: log of an error's usual size, or null
  std::shared_ptr<const ErrorLaw> seen_, unseen_;
  std::vector<double> settings_;  // the distinct rows, sorted
  std::vector<double> low_, high_;
  std::vector<Judged> judged_;
};

}  // namespace tandem::advise
