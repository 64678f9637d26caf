// What the parts have in common: ready clusters as a start, and efficiencies found from one measured time.
#pragma once

#include <functional>
#include <string>

#include "graph/operations.h"
#include "sim/workload/run_workload.h"
#include "spec/cluster.h"

namespace tandem::bench {

// The efficiency at which `seconds(efficiency)` takes `target`; it may exceed 1, as FLOPs are nominal.
// `seconds` must not rise with efficiency. Throws UserError: even with no computing it takes longer.
double efficiency_for(double target, const std::function<double(double)>& seconds);

spec::Cluster ready_cluster(const std::string& name);
spec::DeviceType& device_of(spec::Cluster&, const std::string& name);
// Computing is known from a measured time alone: neither memory's bandwidth nor its size counts.
void calibrated_only(spec::DeviceType&);

}  // namespace tandem::bench
