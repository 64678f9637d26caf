// Chooses where joules come from, and says why.
//
// `auto` takes the power meter when an address is given (it sees the whole machine), else RAPL, else the
// utilisation model. To the latter two comes NVML for tasks that are given GPUs: a GPU draws beside the CPU,
// not inside it. `nvml` by name is the GPUs alone.
#pragma once

#include <memory>
#include <vector>

#include "measure/gpu_energy.h"
#include "measure/surroundings.h"
#include "platform/probe.h"
#include "spec/job.h"

namespace tandem::measure {

struct EnergySources {
  std::unique_ptr<Meter> machine;   // shared out by CPU time; null: no energy at all
  std::unique_ptr<GpuEnergy> gpus;  // of tasks that are given GPUs; null: nothing tells, or it need not
  bool machine_has_gpus = false;    // what `machine` tells is of the GPUs too (pdu) or of them alone (nvml)
};

// A source that was asked for by name and is not there is a UserError.
EnergySources choose_energy(const spec::EnergySpec&, const Surroundings&);

// One line a source. Asks the power meter once when there is an address. Does not throw for what is missing.
std::vector<platform::Probe> probe_energy(const spec::EnergySpec&, const Surroundings&);

}  // namespace tandem::measure
