// How long trials run: the half of a search that knows rungs and epochs, but no parameters.
//
// A schedule says what runs next (a new trial, a held one, a clone of one) and judges what is reported. What
// changes its state is only `asked`, `told`, `left` and `no_more_points`, so history folds into the same
// state that deciding led to; `next` and `judge` only look. History is taken as it was: a trial that was
// asked for goes on although this schedule had dropped it, and a verdict stands although it would be another
// today.
//
// One user; pure. The base keeps the books every schedule needs (who runs, who is held, who is over), the
// schedules below it (straight.h, halving.h, asha.h, population.h) the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/searcher.h"

namespace tandem::search {

// An Ask without its point.
struct Step {
  std::optional<TrialId> trial;  // none: a new one
  std::int64_t until = 1, bracket = 0, rung = 0;
  std::optional<TrialId> clone_from;
};

class Schedule {
 public:
  explicit Schedule(std::int64_t max_epochs) : max_epochs_(max_epochs) {}
  virtual ~Schedule() = default;

  // Held trials that go on before new ones, the highest rung first; the clones of a held trial before itself.
  virtual std::optional<Step> next() const = 0;
  // Stop at max_epochs and where `prunes` says so, hold at the `until` that was asked for.
  Verdict judge(TrialId, std::int64_t epoch, const Losses&) const;

  void asked(const Ask&);
  void told(TrialId, std::int64_t epoch, const Losses&, Verdict);
  bool left(TrialId);  // false: it was over already, nothing changes
  // The space is used up: no new trials beyond those that were asked.
  virtual void no_more_points() = 0;

  // Since the last call; in the order they were dropped.
  std::vector<TrialId> dropped();
  bool finished() const { return running_ + held_ == 0 && !next(); }
  // Both are exact when finished.
  virtual std::int64_t expected_trials() const = 0;
  std::int64_t expected_epochs() const { return epochs_told_ + running_epochs() + further_epochs(); }

 protected:
  enum class State { running, held, over };
  struct Trial {
    State state = State::running;
    std::int64_t epoch = 0, until = 1, bracket = 0, rung = 0;
  };

  // Called after the books are written. `before`: as it was until now; none: it is new.
  virtual void on_asked(const Ask&, const std::optional<Trial>& before) = 0;
  virtual void on_told(TrialId, const Losses&, Verdict) = 0;
  virtual void on_left(TrialId, State before) = 0;
  virtual bool prunes(TrialId, std::int64_t /*epoch*/, const Losses&) const { return false; }
  // Epochs that nobody was asked to run yet and that may still come.
  virtual std::int64_t further_epochs() const = 0;

  void drop(TrialId);  // a held one

  const Trial& trial(TrialId id) const { return trials_.at(static_cast<std::size_t>(id)); }
  std::int64_t started() const { return static_cast<std::int64_t>(trials_.size()); }
  std::int64_t max_epochs() const { return max_epochs_; }

 private:
  std::int64_t running_epochs() const;
  void become(TrialId, State);

  std::int64_t max_epochs_;
  std::vector<Trial> trials_;
  std::vector<TrialId> dropped_;
  std::int64_t running_ = 0, held_ = 0, epochs_told_ = 0;
};

}  // namespace tandem::search
