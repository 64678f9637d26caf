// The parts of bench/dias, each a section of its report.
#pragma once

#include "bench/sim_validation/report.h"

namespace tandem::bench {

Section assumptions_section();
Section processing_section();  // figures 4.3, 4.4 and 4.5
Section reference_section();   // figure 4.6
Section three_section();       // figure 4.7
Section stages_section();      // figure 4.8
Section complete_section();    // figure 4.9 and table 4.2
Section deflator_section();    // the search
Section training_section();
Section model_section();   // the queueing model beside the simulator: what is asked of it
Section beyond_section();  // where it is an approximation: restarts, budgets; and bursty arrivals

}  // namespace tandem::bench
