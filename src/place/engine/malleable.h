// The allocator: the only one who starts, resizes and stops tasks.
//
// A Request may leave open what it is run with: its options are configurations with the time an epoch takes
// in each. The goal is that all that is asked for ends soonest.
//
// Assumes: every program can be resized at an epoch's end, and only then; memory does not change speed.
// Rules, in order:
//   1. tasks that are released, or whose job is cancelled or over, are stopped;
//   2. waiting tasks are served by priority, then by id. The first that finds no room blocks those after it,
//      so that large tasks are not starved;
//   3. a task that has a process is asked for where that process is;
//   4. while more tasks wait than fit, each gets its thriftiest option: the least core-seconds an epoch;
//   5. otherwise everyone who runs or waits is dealt a share of the node: first the thriftiest option each,
//      then, one step at a time, whoever would end last gets more, as long as that makes it end sooner. A
//      waiting task gets its share as far as cores are free now; who runs keeps what it has until it reports,
//      and what it might want then is lent to those whose epochs will end before (it may be starting up);
//   6. a task that reported and gets nothing is held: its cores are free, its memory is not. Where held
//      memory is in the way of the first waiting task, or too many are held, the longest waiting held task of
//      the lowest priority is stopped; it will go on from its checkpoint.
//   7. a task of more than one node is never started: its job fails at once, and says why.
// All state is in the view.
#pragma once

#include "event/policy.h"

namespace tandem::place {

struct MalleableOptions {
  int held_a_core = 4;  // at most so many held tasks a core of the node, and kHeldAtLeast in all
};

class Malleable final : public tandem::Policy {
 public:
  explicit Malleable(MalleableOptions options = {}) : options_(options) {}
  std::vector<DecisionBody> step(const View&, const Event&) override;

 private:
  MalleableOptions options_;
};

}  // namespace tandem::place
