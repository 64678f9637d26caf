// Runs of the store: what they are of, who decides in them, what their journals tell, and this machine as
// they see it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/policy.h"
#include "event/view.h"
#include "measure/task_sensor.h"
#include "spec/job.h"
#include "store/store.h"

namespace tandem::app {

// What is run: a training job, or a tuning job with its base.
struct JobOfRun {
  spec::TrainJob base;
  std::optional<spec::TuneJob> tune;
};

JobOfRun job_of(const store::RunInfo&);

// Of a run on this machine's cores, in the order they decide; an experiment's are a cluster's.
std::vector<std::unique_ptr<Policy>> policies();
std::vector<std::unique_ptr<Policy>> policies_of(const store::RunInfo&);
// This machine as a node, for what must be known before there is a world.
NodeView this_machine();
// A sensor for this machine.
measure::SensorOptions sensor_options(const spec::EnergySpec&);
// The view of a run as its journal tells it, archived jobs included; where `job` is given, of these that one
// alone.
View replayed(store::Store&, const store::RunInfo&, std::optional<JobId> job = {});
// A run by what a person wrote. UserError for a server's: it is no job (app/job_view.h finds its jobs).
store::RunInfo find_own_run(store::Store&, const std::string& written);
// The state for people: a run that is journalled as running but nobody works on was interrupted.
store::RunInfo with_real_state(const store::Store&, store::RunInfo);

}  // namespace tandem::app
