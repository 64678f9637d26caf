#include "base/random.h"

#include <cassert>
#include <cmath>

namespace tandem {
namespace {

std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t rotate(std::uint64_t x, int by) {
  return (x << by) | (x >> (64 - by));
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t mixed = seed;
  mixed = splitmix(mixed) ^ (stream * 0xd1342543de82ef95ULL);
  for (auto& word : state_) word = splitmix(mixed);
}

std::uint64_t Random::bits() {
  const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = rotate(state_[3], 45);
  return result;
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1.0p-53;
}

double Random::uniform(double low, double high) {
  const double drawn = low + (high - low) * uniform();
  return drawn < high ? drawn : low;  // rounding can reach the end that is left out
}

std::uint64_t Random::below(std::uint64_t bound) {
  assert(bound > 0);
  const std::uint64_t threshold = -bound % bound;  // rejecting the short last stretch keeps it unbiased
  while (true) {
    const std::uint64_t drawn = bits();
    if (drawn >= threshold) return drawn % bound;
  }
}

double Random::normal() {
  const double u = 1 - uniform();  // never 0
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * uniform());
}

double Random::exponential(double mean) {
  return -mean * std::log(1 - uniform());
}

std::uint64_t hash_name(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace tandem
