#include "search/schedule.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tandem::search {

Verdict Schedule::judge(TrialId id, std::int64_t epoch, const Losses& losses) const {
  if (epoch >= max_epochs_ || prunes(id, epoch, losses)) return Verdict::stop;
  return epoch >= trial(id).until ? Verdict::hold : Verdict::go_on;
}

void Schedule::asked(const Ask& ask) {
  assert(ask.trial >= 0 && ask.trial <= started() && ask.until >= 1);
  std::optional<Trial> before;
  if (ask.trial < started()) {
    before = trial(ask.trial);
    become(ask.trial, State::running);
    std::erase(dropped_, ask.trial);  // history may go on with a trial that this code has dropped
  } else {
    trials_.emplace_back();
    ++running_;
    if (ask.clone_from) trials_.back().epoch = trial(*ask.clone_from).epoch;
  }
  Trial& asked = trials_[static_cast<std::size_t>(ask.trial)];
  asked.until = ask.until;
  asked.bracket = ask.bracket;
  asked.rung = ask.rung;
  on_asked(ask, before);
}

void Schedule::told(TrialId id, std::int64_t epoch, const Losses& losses, Verdict verdict) {
  Trial& told = trials_.at(static_cast<std::size_t>(id));
  assert(told.state == State::running && epoch > told.epoch);
  told.epoch = epoch;
  ++epochs_told_;
  if (verdict != Verdict::go_on) become(id, verdict == Verdict::hold ? State::held : State::over);
  on_told(id, losses, verdict);
}

bool Schedule::left(TrialId id) {
  const State before = trial(id).state;
  if (before == State::over) return false;
  become(id, State::over);
  on_left(id, before);
  return true;
}

void Schedule::drop(TrialId id) {
  assert(trial(id).state == State::held);
  become(id, State::over);
  dropped_.push_back(id);
}

std::vector<TrialId> Schedule::dropped() {
  return std::exchange(dropped_, {});
}

std::int64_t Schedule::running_epochs() const {
  std::int64_t sum = 0;
  for (const auto& each : trials_)
    if (each.state == State::running) sum += std::max<std::int64_t>(0, each.until - each.epoch);
  return sum;
}

void Schedule::become(TrialId id, State state) {
  Trial& changing = trials_[static_cast<std::size_t>(id)];
  running_ += (state == State::running) - (changing.state == State::running);
  held_ += (state == State::held) - (changing.state == State::held);
  changing.state = state;
}

}  // namespace tandem::search
