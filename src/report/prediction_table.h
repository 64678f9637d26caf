// Predictions beside what came of them, as a person reads them. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/predictions.h"

namespace tandem::report {

std::string prediction_table(const std::vector<app::PredictedRun>&);

}  // namespace tandem::report
