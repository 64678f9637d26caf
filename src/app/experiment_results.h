// What an experiment came to: the tables a person reads (characterize_table.cpp) and the JSON a script reads,
// both from the view.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/experiment_findings.h"
#include "app/kinds.h"
#include "event/view.h"
#include "store/store.h"
#include "tune/experiment_plan.h"

namespace tandem::app {

nlohmann::json plan_json(const tune::Plan&);

nlohmann::json experiment_json(const store::RunInfo&, const View&, const TaskFolders&);
Progress experiment_progress(const View&, const JobView&);

std::string left_out_text(const Findings&);  // what was not analysed; "": all was

}  // namespace tandem::app
