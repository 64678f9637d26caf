// DiAS' priority buffers: who is served next, and whether an arrival sends away who is being served.
//
// A buffer a class, the first class the highest; within one, first come, first served. One who was sent away
// goes back to the head of his buffer. The same rules as the simulated server's (sim/dias/dias_server.h).
// Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "stats/queues/priority_model.h"

namespace tandem::bags {

class Buffers {
 public:
  Buffers(std::size_t classes, stats::Discipline discipline) : waiting_(classes), discipline_(discipline) {}

  void add(std::size_t job, std::size_t which) { waiting_.at(which).push_back(job); }
  void put_back(std::size_t job, std::size_t which) { waiting_.at(which).push_front(job); }

  bool empty() const { return !highest(); }
  // Whether one waits who may send away a job of this class.
  bool evicts(std::size_t served) const {
    return discipline_ != stats::Discipline::non_preemptive && highest() && *highest() < served;
  }
  // Takes out who is next.
  std::optional<std::size_t> next() {
    const auto which = highest();
    if (!which) return std::nullopt;
    const std::size_t job = waiting_[*which].front();
    waiting_[*which].pop_front();
    return job;
  }

 private:
  std::optional<std::size_t> highest() const {
    for (std::size_t which = 0; which < waiting_.size(); ++which)
      if (!waiting_[which].empty()) return which;
    return std::nullopt;
  }

  std::vector<std::deque<std::size_t>> waiting_;
  stats::Discipline discipline_;
};

}  // namespace tandem::bags
