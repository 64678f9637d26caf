// Works on one run until it is over: the place where world, journal, sensor, policies and display are wired
// together.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cli/characterize_findings.h"
#include "cli/command.h"
#include "cli/experiment_world.h"
#include "event/policy.h"
#include "measure/task_sensor.h"
#include "spec/job.h"

namespace tandem::cli {

struct SessionOptions {
  bool quiet = false;  // no progress on standard error
  // On resume: limits to be raised.
  std::optional<Seconds> time, stall;
  std::optional<Joules> energy;
  std::optional<int> retries;
  bool raises() const { return time || stall || energy || retries; }
  // Told how it ended, before the result is printed: for what a command makes of it beside the result.
  std::function<void(const store::RunInfo&, const View&)> then{};
};

// Of a run on this machine's cores, in the order they decide; an experiment's are a cluster's.
std::vector<std::unique_ptr<Policy>> policies();
std::vector<std::unique_ptr<Policy>> policies_of(const store::RunInfo&);

// This machine as a node, for what must be known before there is a world.
NodeView this_machine();

// A sensor for this machine.
measure::SensorOptions sensor_options(const spec::EnergySpec&);

// Makes a run of the job and works on it. Prints the result; returns the exit code.
int run_new(store::Store&, const spec::TrainJob&, const JsonOption&, const SessionOptions&);
int run_new(store::Store&, const spec::TuneJob&, const JsonOption&, const SessionOptions&);
// An experiment, here or in another world; `where` is kept with the run, which is resumed there,
// and so is how it shall be looked at.
int run_new_experiment(store::Store&, const spec::TuneJob&, const ExperimentWorld& where, const Looking&,
                       const JsonOption&, const SessionOptions&);
// Goes on with a run, or says again what a finished one came to; UserError when it is being worked on by
// another process.
int run_again(store::Store&, const store::RunInfo&, const JsonOption&, const SessionOptions&);

// The view of a run as its journal tells it.
View replayed(store::Store&, const store::RunInfo&);
// A run by what a person wrote. UserError for a server's: its jobs are asked for by other commands.
store::RunInfo find_job_run(store::Store&, const std::string& written);
// The state for people: a run that is journalled as running but nobody works on was interrupted.
store::RunInfo with_real_state(const store::Store&, store::RunInfo);

}  // namespace tandem::cli
