// Chooses where joules come from, and says why.
//
// `auto` takes the power meter when an address is given (it sees the whole machine), else RAPL, else the
// utilisation model, the latter two plus NVML where there are GPUs: a GPU draws beside the CPU, not inside
// it.
#pragma once

#include <memory>
#include <vector>

#include "measure/surroundings.h"
#include "platform/probe.h"
#include "spec/job.h"

namespace tandem::measure {

// Null for `none`. A source that was asked for by name and is not there is a UserError.
std::unique_ptr<Meter> choose_meter(const spec::EnergySpec&, const Surroundings&);

// One line a source. Asks the power meter once when there is an address. Does not throw for what is missing.
std::vector<platform::Probe> probe_energy(const spec::EnergySpec&, const Surroundings&);

}  // namespace tandem::measure
