// A recurring job's runs: what a chooser (recurring.h) needs of a spec, what a run that ended taught it, and
// the job it is run as. Pure functions; the command line keeps the runs (cli/recurring.h).
#pragma once

#include <variant>
#include <vector>

#include "event/view.h"
#include "spec/tune_job.h"
#include "tune/recurring.h"

namespace tandem::tune {

// UserError: the spec leaves something out, and what to write.
RecurringJob recurring_job_of(const spec::TuneJob&);

using Lesson = std::variant<EpochSlice, AttemptEnded>;

// In the order in which they happened. An epoch that ran under more than one limit, or whose energy is not
// known, teaches how many epochs were needed, but not what one costs. Nothing of a run that a person stopped,
// or that has not ended.
std::vector<Lesson> lessons_of(const View&, JobId, const spec::SystemSpace&, const RecurringJob&);

// One training as planned: its power limit or clock is tuned inside its epochs, until it is settled. It ends
// at the target, or when it has cost as much as the plan allows.
spec::TuneJob attempt_of(const spec::TuneJob&, const RecurringPlan&);
bool reached_target(const View&, JobId);

}  // namespace tandem::tune
