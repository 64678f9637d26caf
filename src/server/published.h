// What readers see: the view as of a commit, and what the scheduler had learnt by then. The loop's thread
// publishes, any number of others read; none waits for another.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

#include "event/view.h"
#include "place/engine/scheduler.h"

namespace tandem::server {

struct Published {
  View view;
  std::shared_ptr<const place::SchedulerKnowledge> scheduler;
  // The world's clock when this was published, and how fast it runs: it goes on without events.
  Seconds at{};
  std::chrono::steady_clock::time_point published{};
  double pace = 1;

  Seconds now(std::chrono::steady_clock::time_point moment = std::chrono::steady_clock::now()) const {
    const double since = std::chrono::duration<double>(moment - published).count();
    return std::max(view.now, at + Seconds{pace * std::max(0.0, since)});
  }
};

class Publisher {
 public:
  void publish(std::shared_ptr<const Published> next) {
    const std::lock_guard lock(mutex_);
    now_.swap(next);  // the last one is let go outside of the lock
  }
  std::shared_ptr<const Published> get() const {
    const std::lock_guard lock(mutex_);
    return now_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Published> now_;
};

}  // namespace tandem::server
