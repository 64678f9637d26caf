// Searches in small for the tests of samplers: one trial after the other, or many in flight.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "search/sampler.h"
#include "search/space_testing.h"

namespace tandem::search {

using Loss = std::function<double(const Values&)>;

inline double number(const Values& point, const std::string& name) {
  return *as_number(point.at(name));
}

// A sampler with its seed: asks as searchers do.
struct Asker {
  Asker(const std::string& name, const spec::Space& space, SamplerOptions options = {})
      : seed(options.seed), sampler(make_sampler(name, space, options)) {}

  std::optional<Values> ask() {
    Random random(seed, static_cast<std::uint64_t>(asked));
    auto point = sampler->sample(asked, random);
    if (point) sampler->began(asked++, *point);
    return point;
  }

  std::uint64_t seed;
  TrialId asked = 0;
  std::unique_ptr<Sampler> sampler;
};

// The points of a search of one epoch a trial, each told before the next is asked for. A loss of infinity is
// a failure.
inline std::vector<Values> search_points(const std::string& name, const spec::Space& space, const Loss& loss,
                                         int trials, SamplerOptions options = {}) {
  Asker asker(name, space, options);
  std::vector<Values> out;
  for (int i = 0; i < trials; ++i) {
    const auto point = asker.ask();
    if (!point) break;
    out.push_back(*point);
    const double found = loss(*point);
    if (found < std::numeric_limits<double>::infinity())
      asker.sampler->observe(i, 1, {found});
    else
      asker.sampler->failed(i);
  }
  return out;
}

inline double best_loss(const std::string& name, const spec::Space& space, const Loss& loss, int trials,
                        std::uint64_t seed) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& point : search_points(name, space, loss, trials, {.seed = seed}))
    best = std::min(best, loss(point));
  return best;
}

}  // namespace tandem::search
