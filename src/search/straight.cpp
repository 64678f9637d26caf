#include "search/straight.h"

#include <algorithm>
#include <utility>

namespace tandem::search {

Straight::Straight(std::int64_t trials, std::int64_t max_epochs, std::unique_ptr<Pruner> pruner)
    : Schedule(max_epochs), trials_(trials), pruner_(std::move(pruner)) {}

std::optional<Step> Straight::next() const {
  if (started() >= trials_) return std::nullopt;
  return Step{{}, max_epochs(), 0, 0, {}};
}

std::int64_t Straight::expected_trials() const {
  return std::max(trials_, started());
}

void Straight::on_told(TrialId id, const Losses& losses, Verdict verdict) {
  // Nothing holds a trial here but a history of other code; nobody would ever ask for it.
  if (verdict == Verdict::hold) drop(id);
  if (pruner_) pruner_->told(id, trial(id).epoch, losses);
}

void Straight::on_left(TrialId id, State) {
  if (pruner_) pruner_->left(id);
}

bool Straight::prunes(TrialId id, std::int64_t epoch, const Losses& losses) const {
  return pruner_ && pruner_->prunes(id, epoch, losses);
}

std::int64_t Straight::further_epochs() const {
  return std::max<std::int64_t>(0, trials_ - started()) * max_epochs();
}

}  // namespace tandem::search
