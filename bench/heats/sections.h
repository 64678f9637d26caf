// The parts of bench/heats, each a section of its report.
#pragma once

#include "bench/sim_validation/report.h"

namespace tandem::bench {

Section assumptions_section();
Section migration_section();    // figure 3.1
Section prediction_section();   // figure 3.3, and what the models make of it
Section weights_section();      // figure 3.6
Section load_section();         // figure 3.5
Section period_section();       // sensitivity to x
Section maintenance_section();  // a machine changes; the model follows

}  // namespace tandem::bench
