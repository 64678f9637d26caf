// When to stop a trial early that nobody holds: rules for algorithms without rungs of their own.
//
// Pruners compare a trial with what others reported at the same epoch; with several goals by domination, so
// that what nobody dominates goes on. Same rules as searcher.h: `prunes` only looks, `told` and `left` fold.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "search/searcher.h"

namespace tandem::search {

class Pruner {
 public:
  virtual ~Pruner() = default;
  // Would this report, which was not told yet, be the trial's last?
  virtual bool prunes(TrialId, std::int64_t epoch, const Losses&) const = 0;
  virtual void told(TrialId, std::int64_t epoch, const Losses&) = 0;
  virtual void left(TrialId) {}  // it failed
};

// The stopping rule of asynchronous successive halving: after 1, reduction, reduction², ... epochs a trial
// goes on when it is among the best of those that got there so far, itself included: one in `reduction`, at
// least one. Failed trials are the worst of the rung they were on their way to. Several goals: the front that
// still has room goes on whole.
class HalvingPruner final : public Pruner {
 public:
  HalvingPruner(std::int64_t max_epochs, std::int64_t reduction);
  bool prunes(TrialId, std::int64_t epoch, const Losses&) const override;
  void told(TrialId, std::int64_t epoch, const Losses&) override;
  void left(TrialId) override;

 private:
  struct Reached {
    std::map<TrialId, Losses> losses;
    std::int64_t lost = 0;
  };
  std::int64_t reduction_;
  std::map<std::int64_t, Reached> rungs_;  // by epoch
  std::map<TrialId, std::int64_t> epoch_;  // the last of each trial
};

struct MedianOptions {
  std::int64_t grace_epochs = 1;  // never judged there
  std::int64_t grace_trials = 4;  // nor before so many others have reported the epoch
};

// Stops a trial that is dominated by more than half of the others at the epoch, each taken at its best so far
// (goal by goal): with one goal, that is worse than their median.
class MedianPruner final : public Pruner {
 public:
  explicit MedianPruner(const MedianOptions& options = {}) : options_(options) {}
  bool prunes(TrialId, std::int64_t epoch, const Losses&) const override;
  void told(TrialId, std::int64_t epoch, const Losses&) override;

 private:
  Losses best_with(TrialId, const Losses&) const;

  MedianOptions options_;
  std::map<TrialId, Losses> best_;                             // so far
  std::map<std::int64_t, std::map<TrialId, Losses>> best_at_;  // by epoch
};

// By name: none (null), halving, median. Throws UserError for others.
std::unique_ptr<Pruner> make_pruner(const std::string& name, std::int64_t max_epochs, std::int64_t reduction);

}  // namespace tandem::search
