// Energy from samples of power: the trapezoid between neighbours, and no guess across a gap. Pure; one
// thread.
#pragma once

#include <optional>

#include "measure/meter.h"

namespace tandem::measure {

class PowerIntegral {
 public:
  explicit PowerIntegral(Seconds longest_gap) : longest_gap_(longest_gap) {}

  void add(Seconds at, Watts);  // rising times
  // Up to `now`, the last sample held since. nullopt when that one is missing or older than the longest gap.
  // Never falls, though a lower next sample may show that holding was too much: then it waits for the
  // integral to catch up.
  std::optional<MeterReading> at(Seconds now);

 private:
  struct Sample {
    Seconds at;
    Watts power;
  };
  Seconds longest_gap_;
  std::optional<Sample> last_;
  Joules total_, shown_;
  std::int64_t breaks_ = 0;
};

}  // namespace tandem::measure
