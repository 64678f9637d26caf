// What a tuning run came to: the table and the JSON, from the view alone.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include "app/energy_total.h"
#include "app/job_view.h"
#include "app/kinds.h"

#include "event/view.h"
#include "store/store.h"
#include "tune/outcome.h"

namespace tandem::app {

EnergyTotal energy_of(const tune::Outcome&);

nlohmann::json tune_json(const store::RunInfo&, const View&, const TaskFolders& folder);
Progress tune_progress(const View&, const JobView&);
// Until its epochs are done, of which it has `share`, or a budget is used up, whichever comes first; nothing
// where too little is done to tell.
std::optional<Seconds> expected_left(const JobView&, double share, Joules spent);
std::optional<TaskId> best_trial(const View&);  // of the first job

}  // namespace tandem::app
