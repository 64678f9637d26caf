// Works on one run until it is over: the place where world, journal, sensor, policies and display are wired
// together.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "app/experiment_findings.h"
#include "app/experiment_world.h"
#include "app/runs.h"
#include "cli/command.h"
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
  // Told of a new run before anything is done for it: for what must be kept with it, whatever becomes of it.
  std::function<void(const store::RunInfo&)> made{};
};

// Makes a run of the job and works on it. Prints the result; returns the exit code.
int run_new(store::Store&, const spec::TrainJob&, const JsonOption&, const SessionOptions&);
int run_new(store::Store&, const spec::TuneJob&, const JsonOption&, const SessionOptions&);
// An experiment, here or in another world; `where` is kept with the run, which is resumed there,
// and so is how it shall be looked at.
int run_new_experiment(store::Store&, const spec::TuneJob&, const ExperimentWorld& where,
                       const AnalysisOptions&, const JsonOption&, const SessionOptions&);
// Goes on with a run, or says again what a finished one came to; UserError when it is being worked on by
// another process.
int run_again(store::Store&, const store::RunInfo&, const JsonOption&, const SessionOptions&);

}  // namespace tandem::cli
