#include "place/infra/infra_period.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tandem::place {

Seconds Period::looked(Seconds cost) {
  if (!(cost.value >= 0) || !std::isfinite(cost.value))
    throw SystemError(fmt::format(
        "a look at a node is said to have cost {} s of CPU time: look at how it is measured", cost.value));
  const Seconds goal = std::max(options_.first, cost / options_.share);
  now_ = std::max(goal, (now_ + goal) / 2);
  return now_;
}

}  // namespace tandem::place
