// What this machine can do, which mechanism is in force for each thing, and why: what `tandem doctor` shows.
//
// Looking changes nothing but two things: what a Tandem that was killed had left behind is ended, and GPU
// settings it had left changed are put back; the probes say so.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "platform/probe.h"
#include "platform/topology.h"
#include "store/store.h"

namespace tandem::app {

// `gpus` becomes a list, one object a GPU.
std::vector<platform::Probe> examine_machine(const platform::Topology&, store::Store&, nlohmann::json& gpus);

}  // namespace tandem::app
