// What a run came to, as the table a person reads. Pure.
#pragma once

#include "app/results.h"
#include "event/view.h"
#include "report/experiment_table.h"
#include "store/store.h"

namespace tandem::report {

std::string energy_text(const TaskView&);
// As its kind is drawn. `details` adds a line for each epoch, trial or the like; `colour`: for a terminal.
std::string result_table(const store::RunInfo&, const View&, const app::TaskFolders& folder, bool details,
                         bool colour = false);

std::string train_table(const store::RunInfo&, const View&, const app::TaskFolders&, const TableStyle&);

}  // namespace tandem::report
