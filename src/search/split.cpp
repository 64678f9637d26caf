#include "search/split.h"

#include <algorithm>
#include <cassert>

#include "search/pareto.h"

namespace tandem::search {
namespace {

constexpr std::size_t kFewestGood = 3, kMostGood = 25;

std::size_t good_of(std::size_t trials) {
  return std::clamp((trials + 9) / 10, kFewestGood, kMostGood);
}

}  // namespace

void Split::observe(TrialId id, std::int64_t epoch, const Losses& losses) {
  assert(losses.size() == goals_ && epoch > 0);
  const auto index = static_cast<std::size_t>(id);
  if (trials_.size() <= index) trials_.resize(index + 1);
  Trial& trial = trials_[index];
  if (trial.failed || epoch <= trial.last) return;  // an attempt that began again tells what is known
  known_ = false;
  if (trial.last == 0) {
    ++reported_;
    trial.first = epoch;
  } else {
    if (goals_ == 1) order_.erase(place_of(id));
    if (--at_epoch_[trial.last] == 0) at_epoch_.erase(trial.last);
    const Losses before = losses_at(trial, trial.last);  // stands for epochs that were not reported
    for (auto e = trial.last + 1; e < epoch; ++e)
      trial.losses.insert(trial.losses.end(), before.begin(), before.end());
  }
  trial.losses.insert(trial.losses.end(), losses.begin(), losses.end());
  trial.last = epoch;
  ++at_epoch_[epoch];
  if (goals_ == 1) order_.insert(place_of(id));
  raise_epoch();
}

void Split::failed(TrialId id) {
  const auto index = static_cast<std::size_t>(id);
  if (trials_.size() <= index) trials_.resize(index + 1);
  Trial& trial = trials_[index];
  if (trial.failed) return;
  known_ = false;
  ++failed_;
  if (trial.last > 0) {
    --reported_;
    if (goals_ == 1) order_.erase(place_of(id));
    if (--at_epoch_[trial.last] == 0) at_epoch_.erase(trial.last);
  }
  trial.failed = true;
}

Losses Split::losses_at(const Trial& trial, std::int64_t epoch) const {
  const auto row = std::clamp(epoch, trial.first, trial.last) - trial.first;
  const auto from = trial.losses.begin() + row * static_cast<std::ptrdiff_t>(goals_);
  return {from, from + static_cast<std::ptrdiff_t>(goals_)};
}

Split::Place Split::place_of(TrialId id) const {
  const Trial& trial = trials_[static_cast<std::size_t>(id)];
  return {std::max<std::int64_t>(0, epoch_ - trial.last), losses_at(trial, epoch_).front(), id};
}

// The common epoch never falls: what was once compared at an epoch stays comparable there.
void Split::raise_epoch() {
  std::int64_t reached = 0, highest = epoch_;
  for (auto each = at_epoch_.rbegin(); each != at_epoch_.rend(); ++each) {
    reached += each->second;
    if (reached >= enough_) {
      highest = std::max(highest, each->first);
      break;
    }
  }
  if (highest == 0) highest = 1;  // too few anywhere: by their first epoch
  if (highest == epoch_) return;
  epoch_ = highest;
  if (goals_ > 1) return;
  order_.clear();
  for (std::size_t i = 0; i < trials_.size(); ++i)
    if (trials_[i].last > 0 && !trials_[i].failed) order_.insert(place_of(static_cast<TrialId>(i)));
}

const std::vector<TrialId>& Split::good() {
  if (known_) return good_;
  const std::size_t count = std::min(good_of(reported_ + failed_), reported_);
  good_.clear();
  if (goals_ > 1)
    good_ = best_of_several(count);
  else
    for (auto each = order_.begin(); good_.size() < count; ++each) good_.push_back(std::get<2>(*each));
  known_ = true;
  return good_;
}

std::vector<TrialId> Split::best_of_several(std::size_t count) const {
  std::map<std::int64_t, std::vector<TrialId>> by_shortfall;
  for (std::size_t i = 0; i < trials_.size(); ++i)
    if (trials_[i].last > 0 && !trials_[i].failed)
      by_shortfall[std::max<std::int64_t>(0, epoch_ - trials_[i].last)].push_back(static_cast<TrialId>(i));
  std::vector<TrialId> out;
  for (const auto& [shortfall, ids] : by_shortfall) {
    std::vector<Losses> losses;
    for (const auto id : ids) losses.push_back(losses_at(trials_[static_cast<std::size_t>(id)], epoch_));
    for (const auto i : best_first(losses, count - out.size())) out.push_back(ids[i]);
    if (out.size() == count) break;
  }
  return out;
}

}  // namespace tandem::search
