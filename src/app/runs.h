// Runs of the store: what they are of, who decides in them, what their journals tell, and this machine as
// they see it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/kinds.h"
#include "event/policy.h"
#include "event/view.h"
#include "measure/task_sensor.h"
#include "spec/any_job.h"
#include "store/store.h"

namespace tandem::app {

// A server's run: it has jobs, and is none.
bool is_server(const store::RunInfo&);
// The job of any other run, as it was when it was made.
spec::Job job_of(const store::RunInfo&);

// In the order they decide; a server's are those of all kinds that are queued, its scheduler last.
std::vector<std::unique_ptr<Policy>> policies_of(const store::RunInfo&);
// This machine as a node, for what must be known before there is a world. Without `gpus` nobody looks for them.
NodeView this_machine(bool gpus = true);
// UserError when the job could never be run here.
void require_possible_here(const spec::Job&);
// A sensor for this machine.
measure::SensorOptions sensor_options(const spec::EnergySpec&);
// The view of a run as its journal tells it, archived jobs included; where `job` is given, of these that one
// alone.
View replayed(store::Store&, const store::RunInfo&, std::optional<JobId> job = {});
// A run by what a person wrote. UserError for a server's: it is no job (app/job_view.h finds its jobs).
store::RunInfo find_own_run(store::Store&, const std::string& written);
// Puts copies of these files into the folder `kept` of a new run's, for its programs. They are read now: UserError for
// one that cannot be.
std::function<void(const store::RunInfo&)> kept_files(const std::vector<std::string>& files, const store::Store&);
// The state for people: a run that is journalled as running but nobody works on was interrupted.
store::RunInfo with_real_state(const store::Store&, store::RunInfo);

}  // namespace tandem::app
