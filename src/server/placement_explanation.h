// Why a task was put where it is: what the scheduler knew when it decided, from the journal. Nothing is kept
// for it while decisions are made; the journal is replayed up to the decision.
#pragma once

#include "control/ports.h"
#include "place/scheduler.h"

namespace tandem::server {

// SystemError when the journal holds no such start.
place::Explanation placed_because(control::Journal&, const place::Policy&, TaskId, Attempt);

}  // namespace tandem::server
