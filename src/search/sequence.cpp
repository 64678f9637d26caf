#include "search/sequence.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "search/points.h"

namespace tandem::search {
namespace {

constexpr double kFine = 4294967296;  // as many cells a dimension: 2^32

std::vector<std::uint32_t> primes(std::size_t count) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t candidate = 2; out.size() < count; ++candidate)
    if (std::none_of(out.begin(), out.end(), [&](std::uint32_t prime) { return candidate % prime == 0; }))
      out.push_back(candidate);
  return out;
}

std::vector<std::uint16_t> permutation(std::uint32_t size, Random& random) {
  std::vector<std::uint16_t> out(size);
  std::iota(out.begin(), out.end(), std::uint16_t{0});
  for (std::size_t i = size - 1; i > 0; --i) std::swap(out[i], out[random.below(i + 1)]);
  return out;
}

}  // namespace

Halton::Halton(std::size_t dimensions, std::uint64_t seed) {
  const auto bases = primes(dimensions);
  assert(bases.empty() || bases.back() < 65536);
  for (std::size_t i = 0; i < dimensions; ++i) {
    Random random(seed, hash_name("halton") + i);
    Dimension dimension{bases[i], {}};
    for (double cells = 1; cells < kFine; cells *= bases[i])
      dimension.digits.push_back(permutation(bases[i], random));
    dimensions_.push_back(std::move(dimension));
  }
}

std::vector<double> Halton::point(std::uint64_t index) const {
  std::vector<double> out;
  out.reserve(dimensions_.size());
  for (const auto& dimension : dimensions_) {
    double place = 0, weight = 1;
    std::uint64_t rest = index;
    for (const auto& digit : dimension.digits) {  // zeros beyond the index's own digits are permuted, too
      weight /= dimension.base;
      place += weight * digit[rest % dimension.base];
      rest /= dimension.base;
    }
    out.push_back(std::min(place, std::nextafter(1.0, 0.0)));
  }
  return out;
}

AllowedPoints::AllowedPoints(const spec::Space& space, std::uint64_t seed)
    : space_(space), sequence_(space.parameters.size(), seed) {}

Values AllowedPoints::point(std::int64_t number) {
  assert(number >= 0);
  if (number < next_) next_ = 0, index_ = 0;
  const int most = most_tries(space_);
  for (int skipped = 0; skipped < most; ++skipped) {
    Values point = point_at(space_, sequence_.point(index_++));
    if (!spec::allowed(space_, point)) continue;
    if (next_++ == number) return point;
    skipped = 0;
  }
  throw_unsatisfiable(space_);
}

}  // namespace tandem::search
