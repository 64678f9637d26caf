// The plainest schedule: so many trials, each to max_epochs in one go, unless a pruner stops it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "search/pruning.h"
#include "search/schedule.h"

namespace tandem::search {

class Straight final : public Schedule {
 public:
  Straight(std::int64_t trials, std::int64_t max_epochs, std::unique_ptr<Pruner> = nullptr);

  std::optional<Step> next() const override;
  void no_more_points() override { trials_ = started(); }
  std::int64_t expected_trials() const override;

 private:
  void on_asked(const Ask&, const std::optional<Trial>&) override {}
  void on_told(TrialId, const Losses&, Verdict) override;
  void on_left(TrialId, State before) override;
  bool prunes(TrialId, std::int64_t epoch, const Losses&) const override;
  std::int64_t further_epochs() const override;

  std::int64_t trials_;
  std::unique_ptr<Pruner> pruner_;
};

}  // namespace tandem::search
