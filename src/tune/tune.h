// The controller of `tune` jobs: turns what a searcher asks for into tasks, and what they report into
// verdicts.
//
// Assumes that nodes join before jobs are submitted. Rules:
//   - a trial is asked of the searcher when there are cores for it, not before: what is asked late is asked
//     knowing more;
//   - after each epoch the trial is judged: it is asked for again (and may get other system parameters), held
//     until its rung is complete, or released;
//   - a trial that fails is tried again by the rules of retry.h, then given up: it never ends the job. A job
//     whose trials all fail has failed;
//   - epochs that a restarted program repeats are not judged again;
//   - the job ends when the searcher is finished, the target is reached or the budget is used up; what was
//     learned about the machine is then remembered (Learn).
// System parameters: fixed (hyper), part of the point (joint), or by SystemTuner (pipelined).
//
// State is a fold over history: fold() takes verdicts from the decisions that were made, never from new
// thoughts. One owner; pure.
#pragma once

#include <map>
#include <memory>

#include "event/policy.h"

namespace tandem::tune {

class Tuning;  // one job's state

class TuneController final : public Policy {
 public:
  TuneController();
  ~TuneController() override;
  std::vector<DecisionBody> step(const View&, const Event&) override;
  void fold(const View&, const Event&, std::span<const Decision>) override;
  // Of searches that are under way what they were told, and what came of it.
  std::optional<std::string> save(const View&) const override;
  bool restore(const std::string&) override;

 private:
  Tuning* of(const View&, const Event&);
  void forget_archived(const Event&);

  std::map<JobId, std::unique_ptr<Tuning>> jobs_;
};

}  // namespace tandem::tune
