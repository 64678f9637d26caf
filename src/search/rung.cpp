#include "search/rung.h"

#include <algorithm>
#include <cassert>

#include "search/pareto.h"

namespace tandem::search {
namespace {

// Crowding changes as others report, so that among several goals only being dominated is for good.
bool surely_before(TrialId a, const Losses& of_a, TrialId b, const Losses& of_b) {
  return dominates(of_a, of_b) || (of_a.size() == 1 && of_a == of_b && a < b);
}

}  // namespace

void Rung::report(TrialId trial, const Losses& losses) {
  remove(trial);
  Entry reported{trial, losses, 0};
  for (auto& other : entries_) {
    reported.ahead += surely_before(other.trial, other.losses, trial, losses);
    other.ahead += surely_before(trial, losses, other.trial, other.losses);
  }
  const auto place =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) { return other.trial > trial; });
  entries_.insert(place, std::move(reported));
}

void Rung::lose(TrialId trial) {
  remove(trial);
  ++lost_;
}

void Rung::remove(TrialId trial) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.trial == trial; });
  if (found == entries_.end()) return;
  const Entry removed = std::move(*found);
  entries_.erase(found);
  for (auto& other : entries_)
    other.ahead -= surely_before(removed.trial, removed.losses, other.trial, other.losses);
}

std::int64_t Rung::size() const {
  return static_cast<std::int64_t>(entries_.size()) + lost_;
}

std::vector<TrialId> Rung::best_first() const {
  std::vector<Losses> losses;
  for (const auto& entry : entries_) losses.push_back(entry.losses);
  std::vector<TrialId> out;
  for (std::size_t index : search::best_first(losses)) out.push_back(entries_[index].trial);
  return out;
}

std::int64_t Rung::ahead_of(TrialId trial) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), trial,
                                      [](const Entry& entry, TrialId id) { return entry.trial < id; });
  assert(found != entries_.end() && found->trial == trial);
  return found->ahead;
}

}  // namespace tandem::search
