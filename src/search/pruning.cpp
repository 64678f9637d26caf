#include "search/pruning.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "search/pareto.h"

namespace tandem::search {

HalvingPruner::HalvingPruner(std::int64_t max_epochs, std::int64_t reduction) : reduction_(reduction) {
  for (std::int64_t epoch = 1; epoch < max_epochs; epoch *= reduction) {
    rungs_[epoch];
    if (epoch > max_epochs / reduction) break;  // the next might not fit an int64
  }
}

bool HalvingPruner::prunes(TrialId trial, std::int64_t epoch, const Losses& losses) const {
  const auto rung = rungs_.find(epoch);
  if (rung == rungs_.end()) return false;
  std::vector<TrialId> trials{trial};
  std::vector<Losses> all{losses};
  for (const auto& [other, of_other] : rung->second.losses)
    if (other != trial) trials.push_back(other), all.push_back(of_other);
  const auto rank = ranks(all);
  std::int64_t ahead = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    ahead += rank[i] < rank[0] || (all[i] == losses && trials[i] < trial);
  const auto reached = static_cast<std::int64_t>(all.size()) + rung->second.lost;
  return ahead >= std::max<std::int64_t>(1, reached / reduction_);
}

void HalvingPruner::told(TrialId trial, std::int64_t epoch, const Losses& losses) {
  epoch_[trial] = epoch;
  const auto rung = rungs_.find(epoch);
  if (rung != rungs_.end()) rung->second.losses[trial] = losses;
}

void HalvingPruner::left(TrialId trial) {
  const auto rung = rungs_.upper_bound(epoch_[trial]);
  if (rung != rungs_.end()) ++rung->second.lost;
}

bool MedianPruner::prunes(TrialId trial, std::int64_t epoch, const Losses& losses) const {
  const auto others = best_at_.find(epoch);
  if (epoch <= options_.grace_epochs || others == best_at_.end()) return false;
  const Losses own = best_with(trial, losses);
  std::int64_t before = 0, all = 0;
  for (const auto& [other, best] : others->second) {
    if (other == trial) continue;
    before += dominates(best, own);
    ++all;
  }
  return all >= options_.grace_trials && 2 * before > all;
}

void MedianPruner::told(TrialId trial, std::int64_t epoch, const Losses& losses) {
  best_at_[epoch][trial] = best_[trial] = best_with(trial, losses);
}

Losses MedianPruner::best_with(TrialId trial, const Losses& losses) const {
  Losses out = losses;
  const auto before = best_.find(trial);
  if (before != best_.end())
    for (std::size_t goal = 0; goal < out.size(); ++goal)
      out[goal] = std::min(out[goal], before->second[goal]);
  return out;
}

std::unique_ptr<Pruner> make_pruner(const std::string& name, std::int64_t max_epochs,
                                    std::int64_t reduction) {
  static const std::vector<std::string> known{"none", "halving", "median"};
  if (name == "none") return nullptr;
  if (name == "halving") return std::make_unique<HalvingPruner>(max_epochs, reduction);
  if (name == "median") return std::make_unique<MedianPruner>();
  throw UserError(fmt::format("search.pruning: there is no '{}'{}; known are {}", printable(name),
                              did_you_mean(name, known), join(known)));
}

}  // namespace tandem::search
