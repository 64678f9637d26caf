// A searcher put together from a schedule (how long) and a sampler (where).
//
// Keeps the points of all trials; everything else is in the two halves. All randomness of trial k comes from
// Random(seed, k), so its point depends on the reports before it only where the sampler looks at them.
#pragma once

#include <cstdint>
#include <memory>

#include "search/sampler.h"
#include "search/schedule.h"
#include "search/searcher.h"

namespace tandem::search {

std::unique_ptr<Searcher> compose(std::unique_ptr<Schedule>, std::unique_ptr<Sampler>, const spec::Space&,
                                  std::size_t goals, std::uint64_t seed);

// Draws this fraction of points at random and leaves the others to the sampler: what keeps BOHB from being
// worse than HyperBand where its model misleads.
// The first trials begin at `known`, completed at random where they leave something open; the others where
// the sampler says, which hears of all.
std::unique_ptr<Sampler> begin_at(std::unique_ptr<Sampler>, const spec::Space&, std::vector<Values> known);

std::unique_ptr<Sampler> sometimes_random(std::unique_ptr<Sampler>, const spec::Space&, double fraction);

}  // namespace tandem::search
