// The controller of `characterize` jobs: the points of a designed experiment, one after another.
//
// Assumes that nodes join before jobs are submitted. Rules:
//   - a run is one point measured once: its tasks (experiment.jobs) are asked for together, and the next run
//     begins when all of them are over, so that nothing but the point's own load is on the machine;
//   - every reported epoch is continued: nothing is judged while it runs;
//   - a task that fails is tried again by the rules of retry.h, then given up: its run is recorded as failed,
//     and the experiment goes on. One whose runs all failed has failed;
//   - a job with a run that could never be started whole fails at once, and says why;
//   - limits.time counts the time Tandem was at work on the job, over all sessions.
// The number of a run is its task's trial.bracket, which replication it is trial.rung. All state is in the
// view; plans are kept only because making one takes a while.
#pragma once

#include <map>

#include "event/policy.h"
#include "tune/experiment_plan.h"

namespace tandem::tune {

class ExperimentController final : public Policy {
 public:
  std::vector<DecisionBody> step(const View&, const Event&) override;

 private:
  const Plan& plan(const JobView&);

  std::map<JobId, Plan> plans_;
};

}  // namespace tandem::tune
