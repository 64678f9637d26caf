// How large errors usually are at a setting: small jobs are noisier than large ones, early epochs than late.
//
// log |error| by least squares in the logarithms of the columns. Until errors are fit, or where there are too
// few to see a trend, it is 1 everywhere: errors are then their own unit. A value; pure.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stats/regression/regression.h"

namespace tandem::advise {

class ErrorSizes {
 public:
  ErrorSizes() = default;
  // A row for each error.
  ErrorSizes(const std::vector<std::string>& columns, std::span<const double> rows,
             std::span<const double> errors);

  double at(std::span<const double> row) const;

  nlohmann::json written() const;
  static ErrorSizes read(const nlohmann::json&);

 private:
  std::shared_ptr<const stats::Regression> logs_;  // null: 1 everywhere
};

}  // namespace tandem::advise
