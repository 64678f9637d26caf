// Learning curves of real trainings (Sia's validation-BATCH.csv): each batch size left out and predicted from
// the others, beside what the nearest batch size did.
#pragma once

#include <string>

#include "bench/sim_validation/report.h"

namespace tandem::bench {

Section curves_section(const std::string& data);

}  // namespace tandem::bench
