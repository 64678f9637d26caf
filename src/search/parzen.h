// The densities of TPE over parameters that exist together: l of the good trials, g of the bad ones.
//
// One kernel a trial, and one as wide as the space that weighs as much as a trial (the prior). Deviations
// follow the spread of the trials themselves (Scott's rule, with half a trial's worth of the flat
// distribution mixed in, so that a few trials in one place do not end the search): l narrows as the good
// trials draw together. g's kernels are half as wide: what is known to be bad is known near by only.
//
//   separate   each parameter has densities of its own (TPE of Bergstra 2011), and candidates are judged by
//   the
//              sum over parameters
//   joint      one density over all parameters: a trial is one kernel, so what goes together stays together
//
// Fast at any number of trials: l has few kernels; a separate g is kept as a histogram fine enough not to be
// noticed (512 bins against deviations of 0.005 at least; exact up to 128 trials); a joint g is computed over
// all trials, in blocks that vectorise. The same calls give the same numbers. One user.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.h"
#include "search/axis.h"

namespace tandem::search {

class Parzen {
 public:
  using Point = std::vector<double>;  // one coordinate an axis
  struct Good {
    std::size_t trial;
    double weight;
  };

  Parzen(std::vector<Axis> axes, bool joint);

  // Trials are numbered from 0 as they are added. All count as bad until they are named as good ones.
  void add(const Point&);
  std::size_t size() const { return size_; }
  const std::vector<Axis>& axes() const { return axes_; }

  // Points drawn from l, those with the largest l/g first.
  std::vector<Point> candidates(const std::vector<Good>&, std::size_t count, Random&) const;
  // log l(x) - log g(x) of some points.
  std::vector<double> scores(const std::vector<Good>&, const std::vector<Point>&) const;

 private:
  struct Fit;  // what is computed once for a set of good trials

  Fit fit(const std::vector<Good>&) const;
  Point draw(const Fit&, Random&) const;
  std::vector<double> scores(const Fit&, const std::vector<Point>&) const;
  std::vector<double> joint_scores(const Fit&, const std::vector<Point>&) const;
  void add_log_heights(const Fit&, std::size_t axis, double x, std::vector<double>& log_heights) const;
  double log_prior(std::size_t axis, double x) const;
  std::vector<double> bad(const Fit&, std::size_t axis, const std::vector<Point>&) const;
  std::vector<double> bad_choices(const Fit&, std::size_t axis, const std::vector<Point>&) const;
  std::vector<double> bad_exactly(const Fit&, std::size_t axis, const std::vector<Point>&) const;
  std::vector<double> log_bad_jointly(const Fit&, const std::vector<Point>&) const;
  std::vector<double> joint_offsets(const Fit&) const;

  std::vector<Axis> axes_;
  bool joint_;
  std::size_t size_ = 0;
  std::vector<std::vector<double>> columns_;  // coordinates by axis, padded to whole blocks
  std::vector<double> sums_, squares_;        // of the columns
  std::vector<std::vector<double>> bins_;     // by axis: how many trials by position, or by choice
};

}  // namespace tandem::search
