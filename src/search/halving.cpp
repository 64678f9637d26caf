#include "search/halving.h"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace tandem::search {

std::vector<std::int64_t> rung_epochs(std::int64_t max_epochs, std::int64_t reduction) {
  assert(max_epochs >= 1 && reduction >= 2);
  std::vector<std::int64_t> out;
  std::int64_t epochs = 1;
  for (; epochs <= max_epochs / reduction; epochs *= reduction) out.push_back(epochs);
  out.push_back(max_epochs);
  return out;
}

BracketPlan bracket_of(std::int64_t trials, const std::vector<std::int64_t>& epochs, std::int64_t reduction) {
  assert(trials >= 1 && !epochs.empty());
  BracketPlan out;
  for (std::int64_t each : epochs) {
    out.push_back({std::max<std::int64_t>(1, trials), each});
    trials /= reduction;
  }
  return out;
}

BracketPlan halving_plan(std::int64_t max_epochs, std::int64_t reduction,
                         std::optional<std::int64_t> trials) {
  const auto epochs = rung_epochs(max_epochs, reduction);
  std::int64_t own = 1;
  for (std::size_t i = 1; i < epochs.size(); ++i) own *= reduction;
  return bracket_of(trials.value_or(own), epochs, reduction);
}

bool Halving::Promotion::operator<(const Promotion& other) const {
  return std::tie(other.rung, bracket, place, trial) <
         std::tie(rung, other.bracket, other.place, other.trial);
}

Halving::Halving(std::vector<BracketPlan> plans) : Schedule(plans.at(0).back().epochs) {
  for (const auto& plan : plans) {
    assert(!plan.empty() && plan.back().epochs == max_epochs());
    auto& levels = brackets_.emplace_back().levels;
    for (const auto& rung : plan) levels.push_back(Level{rung});
  }
}

std::optional<Step> Halving::next() const {
  if (!promotions_.empty()) {
    const auto& first = *promotions_.begin();
    const auto& levels = brackets_[static_cast<std::size_t>(first.bracket)].levels;
    const auto& plan = levels[static_cast<std::size_t>(first.rung)].plan;
    return Step{first.trial, plan.epochs, first.bracket, first.rung, {}};
  }
  if (open_ == brackets_.size()) return std::nullopt;
  return Step{{}, brackets_[open_].levels[0].plan.epochs, static_cast<std::int64_t>(open_), 0, {}};
}

void Halving::on_asked(const Ask& ask, const std::optional<Trial>& before) {
  if (!before) {
    ++bracket(ask.bracket).started;
    while (open_ < brackets_.size() && brackets_[open_].started >= brackets_[open_].levels[0].plan.trials)
      ++open_;
  } else if (take_promotion(ask.trial)) {
    return;  // awaited since it was chosen
  } else {
    if (before->state == State::held) --level(before->bracket, before->rung).held;
    give_way(ask.bracket, ask.rung);
  }
  ++level(ask.bracket, ask.rung).entered;
  ++level(ask.bracket, ask.rung).awaited;
}

void Halving::on_told(TrialId id, const Losses& losses, Verdict verdict) {
  if (verdict == Verdict::go_on) return;
  auto& here = level(trial(id).bracket, trial(id).rung);
  --here.awaited;
  if (verdict == Verdict::hold) ++here.held;
  here.rung.report(id, losses);
  settle(trial(id).bracket);
}

void Halving::on_left(TrialId id, State before) {
  const Trial& lost = trial(id);
  const bool was_chosen = take_promotion(id);
  auto& here = level(lost.bracket, lost.rung + (was_chosen ? 1 : 0));
  --(before == State::running || was_chosen ? here.awaited : here.held);
  here.rung.lose(id);
  settle(lost.bracket);
}

void Halving::no_more_points() {
  for (; open_ < brackets_.size(); ++open_) {
    brackets_[open_].levels[0].plan.trials = brackets_[open_].started;
    settle(static_cast<std::int64_t>(open_));
  }
}

std::int64_t Halving::expected_trials() const {
  std::int64_t sum = 0;
  for (const auto& each : brackets_) sum += std::max(each.started, each.levels[0].plan.trials);
  return sum;
}

Halving::Level& Halving::level(std::int64_t index, std::int64_t rung) {
  return bracket(index).levels.at(static_cast<std::size_t>(rung));
}

bool Halving::take_promotion(TrialId id) {
  const auto found = chosen_.find(id);
  if (found == chosen_.end()) return false;
  --level(found->second.bracket, found->second.rung).chosen;
  promotions_.erase(found->second);
  chosen_.erase(found);
  return true;
}

// History promoted a trial that was not chosen here: the last of those chosen makes room.
void Halving::give_way(std::int64_t index, std::int64_t rung) {
  const auto last = std::find_if(promotions_.rbegin(), promotions_.rend(), [&](const Promotion& each) {
    return each.bracket == index && each.rung == rung;
  });
  if (last == promotions_.rend()) return;
  const TrialId loser = last->trial;
  take_promotion(loser);
  drop(loser);
  --level(index, rung).entered;
  --level(index, rung).awaited;
}

// Decides the rungs of a bracket for which nobody is awaited any more.
void Halving::settle(std::int64_t index) {
  auto& settling = bracket(index);
  if (settling.started < settling.levels[0].plan.trials) return;
  for (std::size_t rung = 0; rung < settling.levels.size(); ++rung) {
    if (settling.levels[rung].awaited > 0) return;
    decide(index, rung);
  }
}

void Halving::decide(std::int64_t index, std::size_t rung) {
  auto& levels = bracket(index).levels;
  if (levels[rung].held == 0) return;
  levels[rung].held = 0;
  Level* above = rung + 1 < levels.size() ? &levels[rung + 1] : nullptr;
  std::int64_t place = 0;
  for (TrialId id : levels[rung].rung.best_first()) {
    const bool waits_here =
        trial(id).state == State::held && trial(id).rung == static_cast<std::int64_t>(rung);
    if (!waits_here || chosen_.contains(id)) continue;
    if (!above || above->entered >= above->plan.trials) {
      drop(id);
      continue;
    }
    const Promotion promoted{static_cast<std::int64_t>(rung) + 1, index, place++, id};
    promotions_.insert(promoted);
    chosen_.emplace(id, promoted);
    ++above->entered;
    ++above->awaited;
    ++above->chosen;
  }
}

std::int64_t Halving::further_epochs() const {
  std::int64_t sum = 0;
  for (const auto& each : brackets_) {
    std::int64_t candidates = 0, epochs_below = 0;
    for (std::size_t i = 0; i < each.levels.size(); ++i) {
      const Level& here = each.levels[i];
      const std::int64_t room = std::max<std::int64_t>(0, here.plan.trials - here.entered);
      const std::int64_t coming = i == 0 ? room : std::min(room, candidates);
      sum += (coming + here.chosen) * (here.plan.epochs - epochs_below);
      candidates = coming + here.awaited + here.held;
      epochs_below = here.plan.epochs;
    }
  }
  return sum;
}

}  // namespace tandem::search
