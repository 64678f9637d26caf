// Ordinary least squares: a constant and a slope for each column.
//
// Columns are standardised; ones that never change are left out, and ones that depend on each other are held
// apart by a tiny ridge. Pure.
#pragma once

#include "stats/regression/regression.h"

namespace tandem::stats {

std::unique_ptr<Regression> make_linear(const std::vector<std::string>& columns);

}  // namespace tandem::stats
