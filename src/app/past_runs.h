// Past runs as advice wants them, made from the journals of the store and kept there.
//
// A task is a row: a training, a trial of a search, a run of an experiment, a job of a server. A task whose
// cores changed on the way is a row for each stretch of epochs with the same ones; only the first of them
// tells metrics, because later ones began from weights that were not new. Of the metrics those are left out
// that say what an epoch cost (seconds_..., ..._per_second): they are measured by Tandem itself. What others
// ran on the machine at the time is known of the same run's tasks, and of what was seen when its time was
// predicted (`train --slo`).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "advise/history.h"
#include "event/view.h"
#include "store/store.h"

namespace tandem::app {

// "lenet5/mnist", or the command as it was written. Runs of the same program are learnt from together.
std::string program_name(const spec::Program&);

// Rows of a run's ended tasks; tasks that failed or have not reported an epoch give none. Pure.
// `seen`: how busy the machine was for all that is known, this job included.
std::vector<advise::PastRun> past_runs_of(const std::string& run, const View&, const advise::Load& seen = {});
// As the store keeps them, each with its job's owner.
std::vector<store::PastRow> past_rows_of(const std::string& run, const View&, const advise::Load& seen = {});

nlohmann::json to_json(const advise::PastRun&);
advise::PastRun past_run_from_json(const nlohmann::json&);  // SystemError on nonsense

// Brings the rows in the store up to date, for questions about `program`; how many runs had to be read for
// it. A server's journal is long and changes with every job: it is read again now and then (Store::unfolded).
std::size_t fold_past_runs(store::Store&, const std::string& program);
std::vector<advise::PastRun> past_runs(store::Store&, const std::string& program, const store::Owners& = {});

}  // namespace tandem::app
