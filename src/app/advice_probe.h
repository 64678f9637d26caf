// Cold start: a few batches at two or three settings, through the local world, for advice about a program
// that has never run (advise/probe.h).
#pragma once

#include <span>
#include <vector>

#include "advise/history.h"
#include "event/view.h"
#include "spec/job.h"

namespace tandem::app {

// What the probe says of the candidates with so many jobs on the machine, each of `jobs`. Takes seconds.
// UserError for a command, whose batches nobody can count, and for models that do not learn in batches.
std::vector<advise::PastRun> probe_candidates(const spec::TrainJob&,
                                              std::span<const advise::Setting> candidates,
                                              const NodeView& machine, std::span<const int> jobs);

}  // namespace tandem::app
