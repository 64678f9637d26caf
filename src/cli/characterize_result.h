// What an experiment came to: the tables a person reads and the JSON a script reads, both from the view.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "event/view.h"
#include "store/store.h"
#include "tune/experiment_plan.h"

namespace tandem::cli {

bool is_experiment(const View&);

nlohmann::json plan_json(const tune::Plan&);
std::string plan_table(const tune::Plan&);

nlohmann::json experiment_json(const View&);
// `details` adds a line for each run.
std::string experiment_table(const store::RunInfo&, const View&, bool details);

}  // namespace tandem::cli
