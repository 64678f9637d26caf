// The controller of `train` jobs: one task, a fixed number of epochs, no search.
//
// Assumes that nodes join before jobs are submitted. Rules:
//   - a job asks for one task at once, or fails when no node could ever hold it;
//   - every reported epoch is continued; an attempt that was stopped to make room is asked for again;
//   - a plain program has no epochs: it is done when it has ended well;
//   - an attempt that was lost, stalled or killed is asked for again while limits.retries allows (lost ones
//   are free:
//     they were not the program's doing); one that crashed by itself only if it had made progress, because
//     the same start would crash the same way; bad reports, silence and memory limits are never retried;
//   - limits.time counts the time Tandem was at work on the job, over all sessions.
// All state is in the view, so fold() has nothing to do.
#pragma once

#include "event/policy.h"

namespace tandem::tune {

class TrainController final : public Policy {
 public:
  std::vector<DecisionBody> step(const View&, const Event&) override;
  std::optional<std::string> save(const View&) const override { return ""; }  // all it knows is in the view
  bool restore(const std::string& state) override { return state.empty(); }
};

}  // namespace tandem::tune
