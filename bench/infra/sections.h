// The scenarios of figures 3.3 to 3.9 some cases, and the real monitor, each as a section of the report.
#pragma once

#include "bench/sim_validation/report.h"

namespace tandem::bench {

Section makespan_section();   // figures 3.3 to 3.6: background jobs everywhere, and a straggler
Section loads_section();      // the same with other loads and numbers of workers
Section busy_section();       // the same under another reading of its load scenarios
Section bandwidth_section();  // figure 3.7
Section latency_section();    // figure 3.8
Section gpu_section();        // figure 3.9
Section failing_section();    // who fails where the other does not
Section monitor_section();    // what watching this machine costs

}  // namespace tandem::bench
