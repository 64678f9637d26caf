// Cold start: no run of the program is known, so a few batches at three settings have to say something.
//
// A training step on c cores with batch b takes  step + b · (serial + parallel / c)  seconds. Three settings
// tell the three numbers apart: the largest batch on the most and on the fewest cores, and the smallest batch
// on the most. Other jobs are assumed to share cores fairly once there are more processes than cores. Every
// candidate's time then enters the history as a run `from_probe`, so that the same models answer; they count
// only the probe's settings as evidence, so the answer is wide and says why. Pure: the caller measures.
#pragma once

#include <span>
#include <vector>

#include "advise/history.h"

namespace tandem::advise {

struct ProbeSetting {
  Setting setting;
  int batches = 5;  // to time, after one that warms up
};

// Two or three settings out of the candidates; one where they do not differ in batch size or cores.
// UserError: no candidates, or one without a batch size.
std::vector<ProbeSetting> probes_for(std::span<const Setting> candidates);

struct ProbeTime {
  Setting setting;
  double step_seconds = 0;  // median of the batches timed
};

struct StepModel {
  double step = 0, serial = 0, parallel = 0;  // seconds: a step, a record, a record on one core
  double seconds(double batch, double cores) const { return step + batch * (serial + parallel / cores); }
};

// Least squares without negative parts. UserError: no times, or ones that are not positive.
StepModel fit_step_model(std::span<const ProbeTime>);

struct ProbedProgram {
  std::string program, machine;
  std::int64_t records = 0;  // in an epoch
  int machine_cores = 1;
};

// A run for each candidate and number of jobs, for Models::fit.
std::vector<PastRun> seeded_history(const ProbedProgram&, std::span<const ProbeTime>,
                                    std::span<const Setting> candidates, std::span<const int> jobs);

}  // namespace tandem::advise
