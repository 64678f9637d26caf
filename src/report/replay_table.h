// How well the simulator predicted a run, as the table a person reads. Pure.
#pragma once

#include "app/sim_replay.h"

namespace tandem::report {

std::string replay_table(const store::RunInfo&, const View& run, const app::Replayed&);

}  // namespace tandem::report
