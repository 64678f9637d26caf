// How good predictions are, as the numbers people compare: of classes and of numbers.
//
// Fed piece by piece with what an evaluation has in hand anyway, so that scoring costs no second pass over
// the model. Plain sums; one thread. What a metric means is in docs/specs.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/value.h"

namespace tandem::trainer {

// `accuracy`, and `precision`, `recall` and `f1` as macro averages: the plain mean over the classes, however
// rare each is. A class that neither occurs nor was predicted counts in none of them; one that was never
// predicted has precision 0, one that never occurs has recall 0 (as scikit-learn has it with
// zero_division=0).
class ClassScores {
 public:
  explicit ClassScores(std::int64_t classes);
  // Each at least 0 and below `classes`; as many predictions as labels.
  void add(std::span<const std::int64_t> predicted, std::span<const std::int64_t> labels);
  Metrics metrics() const;  // empty before the first

 private:
  struct Tally {
    std::int64_t right = 0, predicted = 0, there = 0;
  };
  std::vector<Tally> of_;
};

// `rmse` and `mae` in the unit of the targets times `unit`, and `r2`, which targets that are all alike do not
// have. The same residuals give `error`: the root mean square error as a share of the targets' deviation.
class NumberScores {
 public:
  explicit NumberScores(double unit = 1) : unit_(unit) {}
  void add(std::span<const float> predicted, std::span<const float> targets);
  Metrics metrics() const;  // empty before the first

 private:
  double unit_;
  double count_ = 0, squares_ = 0, absolute_ = 0;
  double mean_ = 0, spread_ = 0;  // of the targets, by Welford: no cancellation where they lie far from 0
};

}  // namespace tandem::trainer
