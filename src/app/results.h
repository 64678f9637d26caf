// What a run came to: the table a person reads and the JSON a script reads, both from the view.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include "app/energy_total.h"
#include "app/job_view.h"
#include "app/kinds.h"

#include "event/view.h"
#include "store/store.h"

namespace tandem::app {

// The number that tells how good an epoch is, and whether more is better: accuracy, else error, else loss.
struct Score {
  std::string metric;
  double value = 0;
  bool higher_is_better = true;
};
std::optional<Score> score_of(const Metrics&);
Seconds training_time(const TaskView&);
const EpochRecord* best_epoch(const TaskView&);
// Null for those that were NaN or infinite.
nlohmann::json metrics_json(const EpochRecord&);

EnergyTotal energy_of(const TaskView&);

// What every run has, and what its kind adds (app/kinds.h).
nlohmann::json result_json(const store::RunInfo&, const View&, const TaskFolders& folder);

// Of a training job, and of a run whose job never began.
nlohmann::json train_json(const store::RunInfo&, const View&, const TaskFolders& folder);
Progress train_progress(const View&, const JobView&);

// Hyperparameters of the spec that no program of the job has looked at, although it said which it did: misspelt there
// or in the program. Those that the command line is given count as looked at.
std::vector<std::string> unread_hyper(const JobView&);
// The same for a person, with what may be meant; empty: there are none.
std::string unread_text(const JobView&);

// The trained model of a run, if it is there: a file in the folder of its task, or of its best trial.
std::optional<std::filesystem::path> model_file(const TaskFolders& folders, const View&);

}  // namespace tandem::app
