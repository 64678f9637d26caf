// A counter that goes on in steps, read as if it went on evenly.
//
// A GPU's energy counter moves some ten times a second, so the joules of an epoch of a third of a second may
// be a third off. Polled for a moment it shows when it steps; from then on, what was used since its last step
// is the draw between the readings before, times the time since. Steps are taken to be a whole number of
// fiftieths of a second apart (an H200: 0.1 s), and looked for again later, one tells how far apart exactly.
// Two clocks drift apart, so that is believed for ten seconds, which is when settings are tried. If it were
// wrong, readings would be as far off as the counter alone is. Pure; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace tandem::measure {

class CounterSteps {
 public:
  enum class Search { goes_on, found, none };  // none: it moves all the time, or not at all

  // A search begins with a reading that was used already, and goes on some milliseconds apart, with what the
  // counter shows.
  void begin(Seconds at, double joules);
  Search poll(Seconds at, double joules);
  // Once found: how much the first of them was short of what had been used by then.
  double first_missed() const;

  // Later readings, in order: what the counter is short of. 0 when it cannot be told any more.
  double missed(Seconds at, double joules);
  // Whether it steps about then: read again a moment later, it is sure which step it shows.
  bool stepping(Seconds at) const;

 private:
  struct Look {
    Seconds at;
    double joules;
  };
  bool learn();                       // from the steps that were seen; whether they make sense
  double steps_at(Seconds at) const;  // since the one at `phase_`: a whole number when it steps
  bool believed(Seconds at) const;

  std::vector<Look> polls_, steps_;
  int moves_in_a_row_ = 0;
  double period_ = 0;  // 0: not known
  Seconds phase_;
  std::int64_t last_ = 0;  // which step the last reading showed, and its joules
  double joules_ = 0, watts_ = 0;
  std::optional<Look> read_;            // the last reading
  std::optional<double> watts_before_;  // a search began
};

}  // namespace tandem::measure
