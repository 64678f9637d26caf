// The brackets of HyperBand (Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar 2017, algorithm 1).
//
// With R = max_epochs, eta = reduction and s_max = floor(log_eta R), the brackets s = s_max ... 0 start
// n = ceil((s_max + 1) / (s + 1) * eta^s) trials at R * eta^-s epochs; rung i keeps floor(n * eta^-i) of them
// for R * eta^(i - s) epochs, rounded to whole ones. R = 81, eta = 3 gives the table of the paper. Whole
// numbers throughout: no logarithm that is nearly right.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/halving.h"

namespace tandem::search {

// One round of brackets, or as many as it takes to start exactly `trials`: the last bracket is cut short.
std::vector<BracketPlan> hyperband_plan(std::int64_t max_epochs, std::int64_t reduction,
                                        std::optional<std::int64_t> trials);
// What one round starts.
std::int64_t hyperband_trials(std::int64_t max_epochs, std::int64_t reduction);

}  // namespace tandem::search
