// What a scheduler knows, as JSON for people and programs: jobs, nodes, and why a job is where it is. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "event/view.h"
#include "place/engine/scheduler.h"

namespace tandem::app {

// queued, starting, running, stopping, then as the job ended: finished, stopped, failed.
std::string state_of(const View&, const JobView&);

// Of several tasks (trials) one that runs, else one that waits, else the last that ran. The job has some.
const TaskView& telling_task(const View&, const JobView&);

// One row of `tandem queue`.
nlohmann::json job_json(const View&, const JobView&);
// What everybody may see of such a row: state, size and times; what it is, and whose, is left empty.
nlohmann::json anonymous_row(nlohmann::json row);
// The same as job_json with its spec, attempts and epochs.
nlohmann::json whole_job_json(const View&, const JobView&);
nlohmann::json node_json(const View&, const NodeView&);
nlohmann::json explanation_json(const place::Explanation&);

}  // namespace tandem::app
