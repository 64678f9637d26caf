// The same platforms and works on SimGrid (s4u, CM02, no cross-traffic, no TCP window). SimGrid is a
// singleton: call one of these once a process (child.h).
#pragma once

#include <vector>

#include "bench/simgrid/problem.h"
#include "bench/simgrid/star.h"

namespace tandem::bench {

// How SimGrid keeps track of transfers. `lazy` is its default and its fastest, but at times links carry more
// than they can in 3.32: it seems that what a transfer shares is looked up through its first link only, and
// not at all when that link has changed at the same moment already (System::update_modified_cnst_set). `full`
// is exact.
enum class Upkeep { lazy, full };

// When each work is complete.
std::vector<double> run_on_simgrid(const Problem&, Upkeep);

// How an actor sends. `sendto` needs no receiver, but SimGrid keeps all such transfers in one list which it
// goes through at the end of each; `mailbox` sends to a mailbox whose permanent receiver never looks into it.
enum class Way { sendto, mailbox };
StarRun star_on_simgrid(const Star&, Way);

}  // namespace tandem::bench
