// The clocks of worlds that run programs.
#pragma once

#include <chrono>

#include "base/units.h"

namespace tandem::runtime {

// For spans and deadlines: it never jumps.
inline Seconds steady() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

// Of the day, as the machine has it now.
inline Seconds wall() {
  return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

// The time of day as a world tells it: the wall clock's when the world was made, and from there on the steady
// one's. Limits are judged by it, so nobody's may be used up because somebody set the machine's clock.
class WorldClock {
 public:
  explicit WorldClock(Seconds (*day)() = wall, Seconds (*span)() = steady)
      : span_(span), steady_is_behind_(day() - span()) {}
  Seconds now() const { return span_() + steady_is_behind_; }

 private:
  Seconds (*span_)();
  Seconds steady_is_behind_;
};

}  // namespace tandem::runtime
