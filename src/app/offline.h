// Changes to a server that is not running, made in its journal under its run's lock.
#pragma once

#include <string>
#include <vector>

#include "event/view.h"
#include "store/store.h"

namespace tandem::app {

// Cancels jobs, by number or name (the newest), of the server of this name: as the server would, but for its
// programs, which are gone with it, or are ended when it starts again. The jobs as they are then, in the same
// order. UserError when there is no such server or job, when a job is over, and when the server is running.
std::vector<JobView> cancel_offline(store::Store&, const std::string& server,
                                    const std::vector<std::string>& jobs);

}  // namespace tandem::app
