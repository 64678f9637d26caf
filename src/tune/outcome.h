// What a tuning job came to, computed from the view alone: for the table, the JSON, the report and the live
// display.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "event/view.h"
#include "search/searcher.h"
#include "tune/goals.h"

namespace tandem::tune {

struct TrialOutcome {
  TaskId task = 0;
  Values hyper;             // the point: what was searched
  std::string state;        // see trial_states()
  std::string reason;       // why it was stopped or failed
  std::string afterwards;   // what went wrong after its last epoch, which counts
  std::int64_t epochs = 0;  // its own
  std::optional<std::int64_t> best_epoch;
  Seconds best_after;         // training up to it
  Metrics metrics;            // of that epoch
  std::vector<double> goals;  // values of the job's goals at that epoch, as people read them
  search::Losses losses;      // the same, lower is better
  Seconds train_time;         // epochs without start-up
  Joules joules;
  Resources system;  // of its last epoch
  std::int32_t workload = -1;
  std::int64_t bracket = 0, rung = 0;
};

// How epochs of one workload class went in one configuration.
struct ConfigOutcome {
  Resources system;
  double seconds = 0, spread = 0;  // median and median absolute deviation
  std::optional<double> joules;
  std::int64_t epochs = 0;
  std::optional<int> rank{};  // by seconds and joules; 0: on their Pareto front; none: no joules are known
  bool scaled =
      false;  // only first epochs of their processes were seen: scaled by how much shorter later ones are
};

// The best value of one of the program's metrics that any epoch reported. In joint mode, and where a trial got
// worse again, that is another epoch than the best one.
struct Reached {
  double value = 0;
  TaskId task = 0;
  std::int64_t epoch = 0;
};

struct Outcome {
  std::vector<TrialOutcome> trials;
  std::optional<std::size_t> best;  // index into trials; none: nothing was reported, or every trial failed
  std::map<std::string, Reached> reached;  // by metric, of goals: of others nobody said what is better
  std::vector<std::size_t> front;   // several goals: the non-dominated ones, best main goal first
  Resources best_system;            // for training the best trial alone
  std::string system_confidence;    // "measured: 2 cores 0.81 s, 1 core 1.02 s an epoch" or what is not known
  std::vector<ConfigOutcome> best_workload;  // what was measured for work like the best trial's
  Seconds tuning;
  Joules joules;
  std::string energy_source;  // empty: none
  bool energy_complete = true;
  std::vector<EnergyPart> energy_parts;
  TimePrice price;  // what a second costs, where energy and time are weighed
  std::int64_t epochs_total = 0, probed_epochs = 0, reused_profiles = 0, failed = 0, failed_afterwards = 0;
};

Outcome outcome(const View&, JobId);
// What the states of trials mean, for help and pages.
const char* trial_states();

// Of a trial's point what was searched: a system parameter with one choice was not.
Values searched_part(const spec::TuneJob&, const View&, Values point);

// The job that only measures, for later ones (`tandem tune --warm`): each batch size in each configuration of
// cores and speed, `repetitions` times, with everything else in the middle of its domain. Memory is a limit,
// not a speed, and is left at its largest.
spec::TuneJob warming(spec::TuneJob, const NodeView&, std::int64_t repetitions);

// All the epochs of the job's works, by work and configuration, in the order they were run.
std::vector<std::vector<ConfigOutcome>> work_outcomes(const View&, JobId);

}  // namespace tandem::tune
