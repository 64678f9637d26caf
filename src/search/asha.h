// Asynchronous successive halving (Li et al. 2020): nobody waits for a rung to fill.
//
// A trial is held at the end of its rung and goes on as soon as it is among the best of those that got there
// so far: one in `reduction`. Rules, in order:
//   1. who may go on is asked for first, the highest rung first, then the best;
//   2. otherwise a new trial starts, while there are any;
//   3. failed trials are the worst of their rung;
//   4. a held trial is dropped once it cannot go on whatever the trials still to come report;
//   5. when none is still to come, the best of a rung goes on even where it is one of fewer than `reduction`,
//      so that one trial reaches max_epochs however few there are.
// As the paper says, later trials may be better than some that went on earlier, so that more than one in
// `reduction` can go on in the end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/rung.h"
#include "search/schedule.h"

namespace tandem::search {

class Asha final : public Schedule {
 public:
  // `epochs` of the rungs, the last is max_epochs (halving.h, rung_epochs).
  Asha(std::int64_t trials, const std::vector<std::int64_t>& epochs, std::int64_t reduction);

  std::optional<Step> next() const override;
  void no_more_points() override;
  std::int64_t expected_trials() const override;

 private:
  struct Level {
    std::int64_t epochs = 1;
    Rung rung;
    std::vector<TrialId> order;  // of the rung, best first
    std::int64_t entered = 0, running = 0, held = 0;
  };

  void on_asked(const Ask&, const std::optional<Trial>& before) override;
  void on_told(TrialId, const Losses&, Verdict) override;
  void on_left(TrialId, State before) override;
  std::int64_t further_epochs() const override;

  Level& level(std::int64_t rung) { return levels_.at(static_cast<std::size_t>(rung)); }
  bool waits_on(std::size_t rung, TrialId) const;
  std::int64_t unstarted() const;
  std::int64_t still_to_come(std::size_t rung) const;
  void settle();

  std::int64_t trials_, reduction_;
  std::vector<Level> levels_;
};

}  // namespace tandem::search
