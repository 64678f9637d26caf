// Regressions behind one interface: rows of numbers in, one number out.
//
// `linear`: ordinary least squares on standardised columns; columns that never change are left out, and ones
// that depend on each other are held apart by a tiny ridge. `forest`: averaged trees (stats/boosting.h); it
// cannot go beyond what it has seen. Values; deterministic; pure.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tandem::stats {

class Regression {
 public:
  virtual ~Regression() = default;
  // Row after row; learns anew. UserError where rows and targets do not fit, or are not finite.
  virtual void fit(std::span<const double> rows, std::span<const double> targets) = 0;
  virtual double predict(std::span<const double> row) const = 0;  // after `fit`
};

struct RegressionEntry {
  std::string name, description;
  std::unique_ptr<Regression> (*make)();
};
const std::vector<RegressionEntry>& regressions();
std::unique_ptr<Regression> make_regression(const std::string& name);  // UserError: no such

}  // namespace tandem::stats
