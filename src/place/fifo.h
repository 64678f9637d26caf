// The allocator: the only one who starts, resizes and stops tasks.
//
// Rules, in order:
//   1. tasks of jobs that are cancelled or over are stopped;
//   2. waiting tasks are started in the order of their ids, each on the first node with room; the first that
//   finds
//      none blocks the rest, so that large tasks are not starved.
// All state is in the view.
#pragma once

#include "event/policy.h"

namespace tandem::place {

class Fifo final : public Policy {
 public:
  std::vector<DecisionBody> step(const View&, const Event&) override;
};

}  // namespace tandem::place
