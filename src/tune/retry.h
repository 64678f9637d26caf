// When a task that ended badly is worth another attempt; the same for training and for trials.
#pragma once

#include "event/view.h"

namespace tandem::tune {

// Lost attempts are free: they were not the program's doing. Stalled and killed ones are asked for again
// while `retries` allows, one that crashed by itself only if it had made progress, because the same start
// would crash the same way. Bad reports, silence and memory limits are never retried.
bool worth_another_attempt(const TaskView&, const TaskFailed&, int retries);

// What is asked for, without a GPU's power or clock where no node lets them be set: they stay as they are.
Resources settable_somewhere(const View&, Resources wanted);

}  // namespace tandem::tune
