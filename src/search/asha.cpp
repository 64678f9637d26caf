#include "search/asha.h"

#include <algorithm>

namespace tandem::search {

Asha::Asha(std::int64_t trials, const std::vector<std::int64_t>& epochs, std::int64_t reduction)
    : Schedule(epochs.back()), trials_(trials), reduction_(reduction) {
  for (std::int64_t each : epochs) levels_.emplace_back().epochs = each;
}

std::optional<Step> Asha::next() const {
  for (std::size_t above = levels_.size() - 1; above > 0; --above) {
    const Level& here = levels_[above - 1];
    std::int64_t go_on = here.rung.size() / reduction_;
    if (still_to_come(above - 1) == 0) go_on = std::max<std::int64_t>(1, go_on);
    for (TrialId id : here.order) {
      if (go_on-- == 0) break;
      if (waits_on(above - 1, id))
        return Step{id, levels_[above].epochs, 0, static_cast<std::int64_t>(above), {}};
    }
  }
  if (unstarted() == 0) return std::nullopt;
  return Step{{}, levels_[0].epochs, 0, 0, {}};
}

void Asha::on_asked(const Ask& ask, const std::optional<Trial>& before) {
  if (before && before->state == State::held) --level(before->rung).held;
  ++level(ask.rung).entered;
  ++level(ask.rung).running;
}

void Asha::on_told(TrialId id, const Losses& losses, Verdict verdict) {
  if (verdict == Verdict::go_on) return;
  Level& here = level(trial(id).rung);
  --here.running;
  here.held += verdict == Verdict::hold;
  here.rung.report(id, losses);
  here.order = here.rung.best_first();
  settle();
}

void Asha::on_left(TrialId id, State before) {
  Level& here = level(trial(id).rung);
  --(before == State::running ? here.running : here.held);
  here.rung.lose(id);
  here.order = here.rung.best_first();
  settle();
}

void Asha::no_more_points() {
  trials_ = started();
  settle();
}

std::int64_t Asha::expected_trials() const {
  return std::max(trials_, started());
}

bool Asha::waits_on(std::size_t rung, TrialId id) const {
  return trial(id).state == State::held && trial(id).rung == static_cast<std::int64_t>(rung);
}

std::int64_t Asha::unstarted() const {
  return std::max<std::int64_t>(0, trials_ - started());
}

// Trials that may yet report on the rung, from below or already on their way to its end.
std::int64_t Asha::still_to_come(std::size_t rung) const {
  std::int64_t sum = unstarted() + levels_[rung].running;
  for (std::size_t below = 0; below < rung; ++below) sum += levels_[below].running + levels_[below].held;
  return sum;
}

// Rule 4, from the lowest rung up: what is dropped there will not come to the next.
void Asha::settle() {
  for (std::size_t rung = 0; rung < levels_.size(); ++rung) {
    Level& here = levels_[rung];
    if (here.held == 0) continue;
    const std::int64_t to_come = still_to_come(rung);
    std::int64_t most = std::max<std::int64_t>(1, (here.rung.size() + to_come) / reduction_);
    if (rung + 1 == levels_.size()) most = 0;
    std::int64_t place = 0;
    for (TrialId id : here.order) {
      const std::int64_t ahead = to_come == 0 ? place : here.rung.ahead_of(id);
      ++place;
      if (ahead < most || !waits_on(rung, id)) continue;
      drop(id);
      --here.held;
    }
  }
}

std::int64_t Asha::further_epochs() const {
  std::int64_t sum = unstarted() * levels_[0].epochs;
  std::int64_t alive = unstarted() + levels_[0].running + levels_[0].held;
  std::int64_t reach = unstarted() + levels_[0].entered;
  for (std::size_t rung = 1; rung < levels_.size(); ++rung) {
    const Level& here = levels_[rung];
    const std::int64_t wanted = std::max<std::int64_t>(1, reach / reduction_) - here.entered;
    const std::int64_t more = std::clamp<std::int64_t>(wanted, 0, alive);
    sum += more * (here.epochs - levels_[rung - 1].epochs);
    alive += here.running + here.held;
    reach = here.entered + more;
  }
  return sum;
}

}  // namespace tandem::search
