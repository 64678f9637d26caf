// The parts of the validation: published measurements beside what the simulator says. `data`: the folder with
// published/ and sia/. A row that cannot be predicted is printed with the reason and counted.
#pragma once

#include <string>

#include "bench/sim_validation/report.h"

namespace tandem::bench {

Section tensorflow_section(const std::string& data);
Section horovod_section(const std::string& data);
Section mlperf_section(const std::string& data);
Section thesis_section();
Section sia_section(const std::string& data, bool every_row);

}  // namespace tandem::bench
