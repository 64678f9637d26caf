// How long an answer takes once models are fitted: 10 000 made-up past runs, 120 candidates, three jobs that
// run now. Wall clock of this machine; the median of several.
#pragma once

#include "bench/sim_validation/report.h"

namespace tandem::bench {

Section answer_time_section(std::uint64_t seed);

}  // namespace tandem::bench
