// One parameter as TPE's densities see it, and the kernels on it.
//
// A number lies at its position in the unit interval (points.h); a choice at its index. The kernel of a
// number is a normal density cut off at the ends of the interval; a whole number owns a cell of it, and the
// width of the cell widens the kernel (by the variance of the uniform distribution over the cell), so that
// single values of small domains are not sharper than they can be. The kernel of a choice keeps most of its
// mass on its choice. All kernels are relative to a flat density over the domain. Pure values.
#pragma once

#include "base/random.h"
#include "spec/space.h"

namespace tandem::search {

class Axis {
 public:
  explicit Axis(const spec::Domain&);

  bool is_choice() const { return choices_ > 0; }
  double choices() const { return choices_; }
  double coordinate(const Value&) const;
  Value value(double coordinate) const;
  // The coordinate of the value at this position of the unit interval; numbers only.
  double snapped(double position) const;
  // Of the cell that the value here owns; 0 for real numbers.
  double cell(double coordinate) const;

 private:
  spec::Domain domain_;
  double choices_ = 0;
};

double normal_cdf(double);
// The position at which the standard normal distribution has this much mass to its left.
double normal_quantile(double mass);
// How much of a normal kernel around `mean` lies in the unit interval.
double mass_inside(double mean, double deviation);
double draw_inside(double mean, double deviation, Random&);

// The height of a normal kernel where its argument is `distance` away; to be divided by mass_inside.
double normal_density(double distance, double deviation);
// The logarithm of its height at distance 0.
double log_normal_top(double deviation);
// A deviation widened by a cell.
double widened(double deviation, double cell);

// The two heights of a choice's kernel among n of them.
struct ChoiceKernel {
  ChoiceKernel(double choices, double n);
  double same, other;
  double leaving;  // the probability to draw at random instead of the same
};

}  // namespace tandem::search
