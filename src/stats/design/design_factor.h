// What may vary in an experiment: a factor with levels, or with a range that is cut into levels or drawn
// from. Plain values; pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/value.h"

namespace tandem::stats {

struct DesignFactor {
  std::string name;
  std::vector<Value> levels{};      // all different; empty: a range
  double low = 0, high = 0;         // of a range, both ends included
  bool whole = false;               // a range of whole numbers
  bool logarithmic = false;         // a range that is spread by its logarithm; low > 0
  std::optional<Value> usual{};     // for one-at-a-time; none: the level in the middle
  std::size_t levels_of_range = 3;  // what one-at-a-time and full cut a range into, ends included
};

// UserError: a level twice, a range that is none, numbers that are not finite.
void check(const DesignFactor&);
[[noreturn]] void refuse(const DesignFactor&, const std::string& what);  // UserError

// The levels a design would use: as written, or a range cut into `levels_of_range` (fewer where whole numbers
// coincide).
std::vector<Value> levels_of(const DesignFactor&);
// The usual value, or the level in the middle.
Value usual_of(const DesignFactor&);

// How many values it can take at all; 0: a continuum.
std::size_t steps_of(const DesignFactor&);
// The value at a coordinate from 0 to 1: levels and whole numbers have equal parts of it.
Value at_coordinate(const DesignFactor&, double coordinate);

bool same_level(const Value&, const Value&);  // 1 and 1.0 are

}  // namespace tandem::stats
