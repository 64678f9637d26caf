// What people call the parts of a simulated cluster, and what is done there. Pure.
#pragma once

#include <string>

#include "graph/operations.h"
#include "sim/step/devices.h"
#include "sim/step/step_run.h"
#include "spec/cluster.h"

namespace tandem::app {

struct DeviceName {
  std::string
      node;  // "thin-3": node 3 of the cluster, which is of type thin; "dgx-1" where there is one node
  std::string device;  // "K80", or "K80-1" where the node has several
  std::string full() const { return node + "/" + device; }
};
// Devices are numbered as the simulator does it (sim/step/devices.h). The id must be one of the cluster's.
DeviceName name_of(const spec::Cluster&, sim::DeviceId);

// "forward conv1", "forward conv1 and 7 more", "reduce to thin-1/K80", "read".
std::string span_text(const sim::Span&, const graph::Model&, const spec::Cluster&);

}  // namespace tandem::app
