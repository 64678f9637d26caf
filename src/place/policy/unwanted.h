// Who need not run any more: the first thing every allocator sees to. Pure.
#pragma once

#include "event/view.h"

namespace tandem::place {

// It was released, or its job was cancelled or is over.
bool wanted_no_more(const View&, const TaskView&);

Stop stop_of_unwanted(const View&, const TaskView&);

}  // namespace tandem::place
