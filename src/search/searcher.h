// What to try next: the one interface of all search algorithms.
//
// Ask and tell, any number of trials in flight. Pure and deterministic: the same seed and the same order of
// calls give the same answers; randomness is drawn from Random(seed, trial). A searcher's state is a fold
// over what was asked and told, so that a resumed job takes history as it was (`asked`, `told`) without
// deciding again.
//
// Losses: one number a goal, always "lower is better" (the tuner turns signs); never NaN.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "spec/space.h"
#include "spec/tune_job.h"

namespace tandem::search {

using TrialId = std::int64_t;  // dense, from 0, in the order asked
using Losses = std::vector<double>;

// Something to run: a new trial, or a held one that goes on.
struct Ask {
  TrialId trial = 0;
  Values point;            // its parameters; the same at every Ask of one trial
  std::int64_t until = 1;  // go on to this epoch (a clone goes on counting from its parent's), then be judged
  std::int64_t bracket = 0, rung = 0;
  // Population-based training: begins from the weights and epochs of this trial, which is held. Only at the
  // first Ask of a trial, and before its parent is asked to go on; who lets it wait must keep the weights.
  std::optional<TrialId> clone_from;
  bool operator==(const Ask&) const = default;
};

enum class Verdict {
  go_on,  // towards the `until` it was asked for
  hold,   // it waits for its rung; an Ask for it, or its name in `dropped`, comes later
  stop,   // it is over: pruned, or it has run its epochs
};

class Searcher {
 public:
  virtual ~Searcher() = default;

  // What to run next; nothing while it must wait for reports, or when it is finished. Held trials that go on
  // come before new ones (but after their clones). Calls asked() itself. Ask only for what can start now: an
  // answer is final, and one given before others have reported has learnt nothing from them.
  virtual std::optional<Ask> ask() = 0;
  // History: this was asked.
  virtual void asked(const Ask&) = 0;

  // A trial ended an epoch (called for every epoch, in order, once). Judges and calls told() itself.
  virtual Verdict tell(TrialId, std::int64_t epoch, const Losses&) = 0;
  // History: this was told, and judged so.
  virtual void told(TrialId, std::int64_t epoch, const Losses&, Verdict) = 0;

  // A trial that failed will report no more: its rung no longer waits for it, and its point counts as a bad
  // one. Ignored when it is over already.
  virtual void left(TrialId) = 0;
  // The same when its program ended by itself, and well: what it reported stands, but it cannot go on.
  virtual void ended(TrialId) = 0;
  // Held trials that will never go on, each named once. History has no word for them: a searcher folded from
  // history names them all again. One that history stopped while held, but that is not named, has left().
  virtual std::vector<TrialId> dropped() = 0;

  // Nothing will be asked any more, and nothing is in flight or held.
  virtual bool finished() const = 0;
  // Trials it will have started in all, as far as can be told; for progress.
  virtual std::int64_t expected_trials() const = 0;
  // Epochs it will have run in all, at most (asha: about), and exactly once it is finished; for progress.
  virtual std::int64_t expected_epochs() const = 0;
};

struct AlgorithmEntry {
  std::string name, description;
};
// The table of algorithms: validates specs and feeds --help.
const std::vector<AlgorithmEntry>& algorithms();

// A searcher for the spec; `goals` is the number of losses it will be told. Throws UserError when the
// algorithm and the space do not fit (grid over a continuous range without trials).
std::unique_ptr<Searcher> make_searcher(const spec::SearchSpec&, const spec::Space&, std::size_t goals);

// What keeps one answer of a new search, and all it remembers, small: UserError when it would start more than
// spec::kMostTrials trials, of more than a million values together, or more than a thousand with three goals; or
// when no point meets the constraints. For what is asked for the first time: history is taken as it was.
void require_bounded(const spec::SearchSpec&, const spec::Space&, std::size_t goals);

}  // namespace tandem::search
