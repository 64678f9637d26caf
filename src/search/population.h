// Population-based training (Jaderberg et al. 2017) in generations that wait for each other.
//
// A population trains side by side; after every generation the worst quarter is dropped and replaced by
// clones of the best, which go on from their parents' weights with parameters changed a little.
// Rules, in order:
//   1. a generation ends when all its members have reported its last epoch or failed;
//   2. failed members count as the worst; all of them are replaced, and as many others as make it the worst
//      quarter (at least one, in a population of two or more), so that the population keeps its size;
//   3. the worst is replaced by a clone of the best, the next by one of the next, within the best quarter;
//   4. clones are asked for before their parents go on, so that each parent is still held at the epoch its
//      clone begins from;
//   5. when every member has failed there is nobody to clone, and the search is over.
// A clone continues its parent's epochs: from a parent at epoch 3 it reports epoch 4 first, and all reach
// max_epochs together. It is a trial of its own, so more configurations are started than the population has.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "search/rung.h"
#include "search/schedule.h"

namespace tandem::search {

// The parent's point, changed: each parameter is drawn again with probability 1/4; otherwise its place in the
// unit cube is multiplied by 0.8 or 1.2, and choices stay. A choice that is drawn again becomes another one.
// Parameters that begin to exist are drawn. The parent's own point where no change was found that meets all
// constraints.
Values perturbed(const spec::Space&, const Values& parent, Random&);

class Population final : public Schedule {
 public:
  // A generation is a ninth of max_epochs, at least one epoch.
  Population(std::int64_t size, std::int64_t max_epochs);

  std::optional<Step> next() const override;
  void no_more_points() override;
  std::int64_t expected_trials() const override;

 private:
  void on_asked(const Ask&, const std::optional<Trial>& before) override;
  void on_told(TrialId, const Losses&, Verdict) override;
  void on_left(TrialId, State before) override;
  std::int64_t further_epochs() const override;

  std::int64_t end_of(std::int64_t generation) const;
  std::int64_t quarter() const;
  void settle();
  void end_generation();

  std::int64_t size_, length_;
  std::int64_t generation_ = 0;
  std::int64_t awaited_ = 0;    // members of this generation, asked or to be asked, that have not reported
  Rung rung_;                   // of this generation
  std::vector<TrialId> clone_;  // parents of clones to be asked for
  std::vector<TrialId> go_on_;  // held members to be asked for
};

}  // namespace tandem::search
