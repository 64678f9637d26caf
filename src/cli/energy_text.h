// How energy is said to people: never without its source, never an estimate as measured, never a gap
// as a total. Pure.
#pragma once

#include <string>
#include <vector>

#include "event/energy.h"

namespace tandem::cli {

// All that a task, or the tasks of a job, drew.
struct Drawn {
  Joules joules;
  std::string source;  // empty: none
  bool complete = true;
  std::vector<EnergyPart> parts{};
};

// "182 J, measured: rapl", "at least 9 J, estimated: model (...); of it 4 J idle",
// "412 J: 300 J GPU (nvml), 112 J CPU (model (...)); of it at least 80 J idle", or why there is none.
std::string energy_text(const Drawn&);
// "measured", "estimated", "partly estimated".
const char* how_known(const Drawn&);
// Without the total: "nvml", "300 J GPU (nvml), CPU unknown".
std::string sources_text(const Drawn&);

}  // namespace tandem::cli
