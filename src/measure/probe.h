// What this machine can measure, for `tandem doctor`: counters, energy sources and GPUs, which of them are in
// use, and why others are not.
#pragma once

#include <vector>

#include "measure/task_sensor.h"
#include "platform/probe.h"

namespace tandem::measure {

std::vector<platform::Probe> probe(const SensorOptions&);

}  // namespace tandem::measure
