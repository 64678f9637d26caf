// What `tandem doctor` says of GPUs: what they are and do, whether their limits and clocks may be set, and
// what a Tandem that was killed had left changed (it is put back).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "platform/probe.h"

namespace tandem::app {

// No probes where there is no GPU. `gpus` becomes a list, one object a GPU.
std::vector<platform::Probe> examine_gpus(nlohmann::json& gpus);

}  // namespace tandem::app
