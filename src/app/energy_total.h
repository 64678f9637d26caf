// Energy of a task, or of the tasks of a job, with where it comes from.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "event/energy.h"

namespace tandem::app {

// All that a task, or the tasks of a job, drew.
struct EnergyTotal {
  Joules joules;
  std::string source;  // empty: none
  bool complete = true;
  std::vector<EnergyPart> parts{};
};

}  // namespace tandem::app
