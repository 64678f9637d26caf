// The page of `tandem sim --report`: one HTML file that needs nothing else (report_page.h). Rows with a
// beginning are drawn: what each device did, utilisation and power over time, energy by device. Pure: the
// same rows give the same page, byte for byte.
#pragma once

#include <string>
#include <vector>

#include "app/sim_grid.h"

namespace tandem::report {

std::string sim_page(const spec::SimJob&, const std::vector<app::SimRow>&);

}  // namespace tandem::report
