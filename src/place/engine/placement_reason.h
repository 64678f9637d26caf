// Why a task was put where it is, told of what was taken down with the decision (event/decision.h,
// live_reason.cpp). Pure.
#pragma once

#include "place/engine/scheduler.h"
#include "place/policy/policies.h"

namespace tandem::place {

// As Scheduler::explain tells it of a task that waits. How many nodes a type has is told of now.
Explanation explain_placement(const View&, const place::Policy&, const TaskView&);

}  // namespace tandem::place
