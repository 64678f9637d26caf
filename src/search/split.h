// Which trials of a search are the good ones: the first question of TPE.
//
// Trials are ranked by what they reached at one epoch that they have in common, as in BOHB: the highest that
// at least `enough` trials have reached. Those come first, by their losses at that epoch (not later, so that
// nobody wins by having run longer); then those that ran less, the longer the better (they were stopped, or
// are on their way); then those in flight that have reported nothing; failed ones last. Several goals: by
// rank of non-domination, then by crowding.
//
// The good ones are the best tenth of those that reported or failed, 3 at least and 25 at most; all others
// are bad, also those in flight ("constant liar": nobody else need go where somebody is looking already).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "search/searcher.h"

namespace tandem::search {

class Split {
 public:
  Split(std::size_t goals, std::int64_t enough) : goals_(goals), enough_(enough) {}

  void observe(TrialId, std::int64_t epoch, const Losses&);
  void failed(TrialId);

  // Trials that reported and did not fail.
  std::int64_t reported() const { return static_cast<std::int64_t>(reported_); }
  // Best first. With one goal O(log n) a report; with several, ranked anew after each.
  const std::vector<TrialId>& good();
  // The epoch at which trials are compared; 0 before the first report.
  std::int64_t epoch() const { return epoch_; }

 private:
  struct Trial {
    std::int64_t first = 0, last = 0;  // epochs reported; 0: none
    std::vector<double> losses;        // all goals of the first epoch, then of the next, and so on
    bool failed = false;
  };
  using Place = std::tuple<std::int64_t, double, TrialId>;  // epochs short of the common one, loss, trial

  Losses losses_at(const Trial&, std::int64_t epoch) const;
  Place place_of(TrialId) const;
  void raise_epoch();
  std::vector<TrialId> best_of_several(std::size_t count) const;

  std::size_t goals_;
  std::int64_t enough_;
  std::vector<Trial> trials_;
  std::size_t reported_ = 0, failed_ = 0;
  std::map<std::int64_t, std::int64_t> at_epoch_;  // how many trials stand at an epoch
  std::int64_t epoch_ = 0;
  std::set<Place> order_;  // one goal only
  std::vector<TrialId> good_;
  bool known_ = false;
};

}  // namespace tandem::search
