// Works on one run until it is over: the place where world, journal, sensor, policies and display are wired
// together.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/experiment_findings.h"
#include "app/experiment_world.h"
#include "app/runs.h"
#include "cli/command.h"
#include "spec/any_job.h"

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
  // Kept with a new run's spec: where it runs (json_of(RunWorld), as "world"), how it shall be looked at.
  nlohmann::json kept = nlohmann::json::object();
};

// Makes a run of the job, of whatever kind, and works on it. Prints the result; returns the exit code.
int run_new(store::Store&, const spec::Job&, const JsonOption&, const SessionOptions&);
// Goes on with a run, or says again what a finished one came to; UserError when it is being worked on by
// another process.
int run_again(store::Store&, const store::RunInfo&, const JsonOption&, const SessionOptions&);

}  // namespace tandem::cli
