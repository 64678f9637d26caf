// Successive halving in brackets whose rungs wait for all their trials (Li et al. 2017).
//
// A bracket starts trials, holds each at the end of its rung, and when the last of a rung has reported or
// failed lets the best go on and drops the others. Rules, in order:
//   1. who goes on is asked for before new trials: the highest rung first, then the first bracket, then the
//      best;
//   2. new trials come in the order of brackets; a bracket need not wait for the one before it, so that work
//      is there while a rung waits for its last report;
//   3. failed trials are the worst of their rung: fewer may go on than planned, and a rung in which all
//      failed ends its bracket.
// One bracket is successive-halving, the brackets of hyperband.h are HyperBand, with a model as sampler BOHB.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "search/rung.h"
#include "search/schedule.h"

namespace tandem::search {

struct RungPlan {
  std::int64_t trials = 1;  // that reach it
  std::int64_t epochs = 1;  // at its end, counted from the trial's first
  bool operator==(const RungPlan&) const = default;
};
using BracketPlan = std::vector<RungPlan>;  // at least one; fewer or as many trials, more epochs

// Each rung one in `reduction` of the one below, but at least one.
BracketPlan bracket_of(std::int64_t trials, const std::vector<std::int64_t>& epochs, std::int64_t reduction);
// 1, reduction, reduction², ... and max_epochs as the last, floor(log(max_epochs)) + 1 of them.
std::vector<std::int64_t> rung_epochs(std::int64_t max_epochs, std::int64_t reduction);
// One bracket that starts at one epoch; without `trials` as many as leave one at max_epochs.
BracketPlan halving_plan(std::int64_t max_epochs, std::int64_t reduction, std::optional<std::int64_t> trials);

class Halving final : public Schedule {
 public:
  explicit Halving(std::vector<BracketPlan>);

  std::optional<Step> next() const override;
  void no_more_points() override;
  std::int64_t expected_trials() const override;

 private:
  struct Level {
    RungPlan plan;
    Rung rung;
    std::int64_t entered = 0;  // chosen or asked for it, ever
    std::int64_t awaited = 0;  // of those, neither reported nor left
    std::int64_t chosen = 0;   // of those, not asked yet
    std::int64_t held = 0;     // reported, and neither chosen for the next nor dropped
  };
  struct Bracket {
    std::vector<Level> levels;
    std::int64_t started = 0;
  };
  // Chosen to go on, not asked yet; in the order of rule 1.
  struct Promotion {
    std::int64_t rung, bracket, place;
    TrialId trial;
    bool operator<(const Promotion&) const;
  };

  void on_asked(const Ask&, const std::optional<Trial>& before) override;
  void on_told(TrialId, const Losses&, Verdict) override;
  void on_left(TrialId, State before) override;
  std::int64_t further_epochs() const override;

  Bracket& bracket(std::int64_t index) { return brackets_.at(static_cast<std::size_t>(index)); }
  Level& level(std::int64_t index, std::int64_t rung);
  bool take_promotion(TrialId);
  void give_way(std::int64_t index, std::int64_t rung);
  void settle(std::int64_t index);
  void decide(std::int64_t index, std::size_t rung);

  std::vector<Bracket> brackets_;
  std::size_t open_ = 0;  // brackets before it have started all their trials
  std::set<Promotion> promotions_;
  std::map<TrialId, Promotion> chosen_;  // the same, by trial
};

}  // namespace tandem::search
