// What runs whose Tandem was killed have left on this machine (runtime/local/leftovers.h), over a whole store:
// every start, `tandem doctor` and `tandem rm` end it.
#pragma once

#include <string>
#include <vector>

#include "runtime/local/leftovers.h"
#include "store/store.h"

namespace tandem::app {

struct RunLeftovers {
  std::string run;
  local::Reaped reaped;
};

// Runs that are at work are passed over. One entry for each run that had something left.
std::vector<RunLeftovers> reap_leftovers(store::Store&);
// "ended what run R left: 3 processes and 2 cgroups".
std::string text(const RunLeftovers&);

}  // namespace tandem::app
