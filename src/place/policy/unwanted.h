// Who need not run any more: the first thing every allocator sees to. Pure.
#pragma once

#include <vector>

#include "event/view.h"

namespace tandem::place {

// It was released, or its job was cancelled or is over.
bool wanted_no_more(const View&, const TaskView&);

Stop stop_of_unwanted(const View&, const TaskView&);
// For those of them that have a process and are not being stopped yet.
std::vector<Stop> stops_of_unwanted(const View&);

}  // namespace tandem::place
