// When a task that ended badly is worth another attempt; the same for training and for trials.
#pragma once

#include "event/view.h"

namespace tandem::tune {

// Lost attempts are free: they were not the program's doing, unless `lost` of them in a row were lost at once
// and without a report (TaskView::lost_at_once): then it may be what ends Tandem, and is not started again by
// itself. Stalled and killed ones, and those ended for want of space, are asked for again while `retries`
// allows, one that crashed by itself only if it had made progress, because the same start would crash the same
// way. Bad reports, silence and memory limits are never retried.
bool worth_another_attempt(const TaskView&, const TaskFailed&, const spec::Limits&);

// The task was lost so often that its job is held: it fails with this reason. Otherwise "".
std::string why_held(const TaskView&, const spec::Limits&);

// What is asked for, without a GPU's power or clock where no node lets them be set: they stay as they are.
Resources settable_somewhere(const View&, Resources wanted);

}  // namespace tandem::tune
