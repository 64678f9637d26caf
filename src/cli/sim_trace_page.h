// The page of a replayed trace: policies side by side. Pure; one HTML file that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "sim/replay.h"
#include "sim/trace.h"

namespace tandem::cli {

struct PolicyRow {
  place::Policy policy{};
  sim::Replayed replayed{};
  double seconds = 0;  // that it took to simulate
};

std::string trace_page(const sim::Trace&, const std::string& cluster, const sim::ReplayInput&,
                       const std::vector<PolicyRow>&);

}  // namespace tandem::cli
