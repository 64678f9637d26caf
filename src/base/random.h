// Seeded randomness that is the same on every machine and compiler.
//
// The standard library's distributions differ between implementations, so we bring our own. A Random is cheap
// to make: derive one from (seed, stream) wherever randomness is needed instead of sharing one.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t bits();                      // 64 uniform bits (xoshiro256**)
  double uniform();                          // [0, 1)
  double uniform(double low, double high);   // [low, high)
  std::uint64_t below(std::uint64_t bound);  // [0, bound), unbiased; bound > 0
  double normal();                           // mean 0, deviation 1
  double exponential(double mean);

 private:
  std::uint64_t state_[4];
};

// A stable number for a name, to be used as a stream.
std::uint64_t hash_name(std::string_view);

}  // namespace tandem
