// Points spread more evenly over the unit cube than chance would: a Halton sequence with scrambled digits.
//
// Any stretch of it is about as even as its length allows, in any number of dimensions; the digits'
// permutations come from the seed (one a dimension and digit, as Owen 2017 does), so that seeds give
// different sequences and high dimensions are not correlated. Pure values.
#pragma once

#include <cstdint>
#include <vector>

#include "search/searcher.h"

namespace tandem::search {

class Halton {
 public:
  Halton(std::size_t dimensions, std::uint64_t seed);
  std::vector<double> point(std::uint64_t index) const;  // each in [0, 1)

 private:
  struct Dimension {
    std::uint32_t base;
    std::vector<std::vector<std::uint16_t>> digits;  // permutations, most significant first
  };
  std::vector<Dimension> dimensions_;
};

// The points of a sequence that a space allows, numbered from 0.
class AllowedPoints {
 public:
  AllowedPoints(const spec::Space&, std::uint64_t seed);
  // The `number`th; UserError when a long stretch of the sequence has none. Quick when asked for in order.
  Values point(std::int64_t number);

 private:
  spec::Space space_;
  Halton sequence_;
  std::int64_t next_ = 0;    // the number of the next allowed point,
  std::uint64_t index_ = 0;  // which is at this index of the sequence or after it
};

}  // namespace tandem::search
