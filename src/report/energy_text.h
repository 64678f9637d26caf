// How energy is said to people: never without its source, never an estimate as measured, never a gap
// as a total. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/energy_total.h"

namespace tandem::report {

using app::EnergyTotal;

// "182 J, measured: rapl", "at least 9 J, estimated: model (...); of it 4 J idle",
// "412 J: 300 J GPU (nvml), 112 J CPU (model (...)); of it at least 80 J idle", or why there is none.
std::string energy_text(const EnergyTotal&);
// "measured", "estimated", "partly estimated".
const char* how_known(const EnergyTotal&);
// Without the total: "nvml", "300 J GPU (nvml), CPU unknown".
std::string sources_text(const EnergyTotal&);

}  // namespace tandem::report
