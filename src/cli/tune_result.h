// What a tuning run came to: the table and the JSON, from the view alone.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/energy_text.h"
#include "event/view.h"
#include "store/store.h"
#include "tune/outcome.h"

namespace tandem::cli {

bool is_tuning(const View&);
Drawn drawn_by(const tune::Outcome&);

nlohmann::json tune_json(const View&, const std::filesystem::path& folder);
// `details` adds a line for each trial.
std::string tune_table(const store::RunInfo&, const View&, const std::filesystem::path& folder, bool details);

// "batch_size 64  dropout 0.213  learning_rate 0.0312"
std::string point_text(const Values&);

}  // namespace tandem::cli
