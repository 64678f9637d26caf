// What happened in a world and was not told yet, and the wakes it owes: what worlds on a real clock have in
// common. One owner, one thread.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "event/event.h"
#include "event/view.h"

namespace tandem::runtime {

class EventQueue {
 public:
  void happened(Seconds now, EventBody body) { pending_.push_back({now, std::move(body)}); }
  bool empty() const { return pending_.empty(); }
  std::vector<Event> take() { return std::exchange(pending_, {}); }

  // By wall clock, as decided.
  void wake_at(Seconds at, DecisionId id) { wakes_.emplace(at.value, id); }
  void wake(Seconds now) {  // those that are due
    for (; !wakes_.empty() && wakes_.begin()->first <= now.value; wakes_.erase(wakes_.begin()))
      happened(now, Woke{wakes_.begin()->second});
  }
  std::optional<Seconds> next_wake() const {
    return wakes_.empty() ? std::nullopt : std::optional(Seconds{wakes_.begin()->first});
  }
  // After a crash: those that were decided and did not come.
  void remember_wakes(const View& view) {
    for (const auto& [id, decision] : view.open)
      if (const auto* wake = std::get_if<Wake>(&decision.body)) wake_at(wake->at, id);
  }

 private:
  std::vector<Event> pending_;
  std::multimap<double, DecisionId> wakes_;
};

}  // namespace tandem::runtime
