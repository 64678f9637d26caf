// Turns what is read now and then of one quantity into its mean rate over a stretch.
//
// A stretch ends when its rate is taken; the next one begins at the last reading, so nothing falls between
// two. A moment in which nothing could be read is simply not given: the next reading covers the longer time.
// Plain values, one thread.
#pragma once

#include <optional>

#include "base/units.h"
#include "platform/perf_events.h"

namespace tandem::measure {

// Of a quantity that only grows. Going backwards means a reset, or members that left and took their counts
// with them: such a step counts as 0, never as negative.
class GrowingChannel {
 public:
  double update(Seconds now, double value);  // how much was added
  std::optional<double> take();              // per second since the last take; nullopt: not measured

 private:
  bool started_ = false;
  double last_ = 0, sum_ = 0;
  Seconds last_at_, measured_;
};

// Of a level, such as memory in use: the mean over time by trapezoid.
class LevelChannel {
 public:
  void update(Seconds now, double value);
  std::optional<double> take();

 private:
  bool started_ = false;
  double last_ = 0, area_ = 0;
  Seconds last_at_, measured_;
};

// Of a counter that shares its register: each step is scaled by time enabled over time running. While the
// event waits for its turn there is nothing to scale, so the stretch is left open until it ran again.
class ScaledChannel {
 public:
  double update(Seconds now, const platform::Count&);  // the scaled count that was added
  std::optional<double> take();

 private:
  bool started_ = false;
  platform::Count last_;
  double sum_ = 0;
  Seconds last_at_, measured_;
};

}  // namespace tandem::measure
