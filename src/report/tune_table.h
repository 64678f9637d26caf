// What a tuning job came to, as the table a person reads. Pure.
#pragma once

#include "app/tune_results.h"
#include "store/store.h"

namespace tandem::report {

// `details` adds a line for each trial.
std::string tune_table(const store::RunInfo&, const View&, const app::TaskFolders& folder, bool details);
// "batch_size 64  dropout 0.213  learning_rate 0.0312"
std::string point_text(const Values&);

}  // namespace tandem::report
