// What a tuning run came to: the table and the JSON, from the view alone.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include "app/energy_total.h"
#include "app/job_view.h"

#include "event/view.h"
#include "store/store.h"
#include "tune/outcome.h"

namespace tandem::app {

bool is_tuning(const View&);
EnergyTotal energy_of(const tune::Outcome&);

nlohmann::json tune_json(const View&, const TaskFolders& folder);

}  // namespace tandem::app
