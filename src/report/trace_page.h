// The page of a replayed trace: policies side by side. Pure; one HTML file that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "app/trace_study.h"

namespace tandem::report {

std::string trace_page(const sim::Trace&, const std::string& cluster, const sim::ReplayInput&,
                       const std::vector<app::PolicyRow>&);

}  // namespace tandem::report
