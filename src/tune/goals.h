// What a trial is worth: the job's goals for an epoch, as people read them and as searchers do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "event/view.h"
#include "search/searcher.h"
#include "spec/tune_job.h"

namespace tandem::tune {

// The goals' values after the epoch at this index: metrics of the epoch; train_time and energy of the trial
// up to it. Nothing when the program does not report one of them, which is then named in `missing`.
std::optional<std::vector<double>> goal_values(const spec::Objective&, const TaskView&, std::size_t index,
                                               std::string* missing = nullptr);

// Lower is better, one a goal. In joint mode one number: the main goal divided by the time it took
// (PipeTune's Tune V2: accuracy over duration), or for a goal to be minimised multiplied by it.
search::Losses losses(const spec::TuneJob&, const std::vector<double>& values, const TaskView&,
                      std::size_t index);
std::size_t loss_count(const spec::TuneJob&);

// Seconds of training up to and with the epoch at this index, start-up not counted.
Seconds trained_until(const TaskView&, std::size_t index);

}  // namespace tandem::tune
