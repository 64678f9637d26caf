// How often a node is looked at, so that looking costs no more than a share of one core.
//
// After a look that took c seconds of CPU time the next one comes no sooner than c / share later; so no
// period costs more than its share, and neither does any sum of them. The first period is 10 s, and none is
// shorter. A dear look lengthens the period at once; cheaper ones bring it back by halves, so that one cheap
// look among dear ones changes little. Assumes that the cost is measured as the CPU time of all threads that
// look. Pure.
#pragma once

#include "base/units.h"

namespace tandem::place {

struct PeriodOptions {
  Seconds first{10};
  double share = 0.005;  // of one core
};

class Period {
 public:
  explicit Period(PeriodOptions options = {}) : options_(options), now_(options.first) {}

  Seconds now() const { return now_; }  // until the next look
  // After a look: until the next. Throws SystemError: a cost that is negative or not a number.
  Seconds looked(Seconds cost);

 private:
  PeriodOptions options_;
  Seconds now_;
};

}  // namespace tandem::place
