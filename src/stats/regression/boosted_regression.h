// Gradient boosting as a Regression: XGBoost's trees (stats/regression/boosting.h), each learning what the
// ones before it left. It cannot go beyond what it has seen. Pure.
#pragma once

#include "stats/regression/regression.h"

namespace tandem::stats {

std::unique_ptr<Regression> make_boosting(const std::vector<std::string>& columns);
const std::vector<RegressionOption>& boosting_options();

}  // namespace tandem::stats
