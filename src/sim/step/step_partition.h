// A model cut into parts for devices that each train one of them.
//
// Parts are runs of neighbouring operations, so that little crosses between them, and the slowest part takes
// as little as such a cut allows (to a billionth). What an operation passes to another part becomes a Send
// here and a Receive there: one message a part, however many read it; its gradient comes back the same way.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operations.h"

namespace tandem::sim {

// Of each operation, the part it belongs to; `seconds` of each, forward and backward. Every part has at least
// one. Throws UserError when there are more parts than operations.
std::vector<std::uint32_t> partition(const graph::Model&, const std::vector<double>& seconds,
                                     std::size_t parts);

struct Crossing {
  std::uint32_t operation = 0;     // passes its outputs on
  std::uint32_t from = 0, to = 0;  // parts
  double bytes = 0;                // a sample
  bool operator==(const Crossing&) const = default;
};

// In the order of operations, then parts.
std::vector<Crossing> crossings(const graph::Model&, const std::vector<std::uint32_t>& part);

}  // namespace tandem::sim
