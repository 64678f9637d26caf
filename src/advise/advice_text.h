// Advice in words and as JSON: why this setting, what it will take, and what makes the answer less sure.
// Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "advise/advisor.h"

namespace tandem::advise {

std::vector<std::string> reasons_for(const Advice&, const Models&, const Question&);
std::vector<std::string> notes_on(const Advice&, const Models&, const Question&);

// {choice: {hyper, system, epochs}, predicted: {seconds, METRIC, joules, joules_source}, interval: {level,
//  seconds: [low, high], …}, p_meet, met, models: {seconds, METRIC, joules}, runner_ups, threatened, reasons,
//  notes}. A bound that is not known is null.
nlohmann::json to_json(const Advice&, const Models&, const Question&);

}  // namespace tandem::advise
