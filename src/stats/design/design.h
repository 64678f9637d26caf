// Which runs an experiment needs: designs over named factors.
//
//   one-at-a-time   everything at its usual value, then each factor alone at each of its other levels
//   two-level       every combination of each factor's lowest and highest level (2^k factorial)
//   full            every combination of all levels
//   space-filling   a given number of points spread evenly (Latin hypercube with the closest two as far apart
//                   as a seeded search gets them), for factors that are ranges or have too many levels
//
// A factor with one level stays where it is and does not multiply the count. Of words and flags the lowest
// and the highest level are the first and the last as written. Every replication is a block of its own, in a
// seeded random order, so that a machine that slowly changes does not look like a factor, and an experiment
// cut short has whole replications. Nothing is dropped in silence: `counted` says how the number came about,
// and a design with more runs than `most` is refused with its number. Pure; the same seed gives the same
// design.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stats/design/design_factor.h"

namespace tandem::stats {

struct DesignOptions {
  std::string kind = "one-at-a-time";  // a name of designs()
  std::size_t points = 0;              // space-filling: how many
  std::size_t replications = 1;
  std::uint64_t seed = 1;
  bool shuffled = true;                          // false: in the order the design lists them
  std::size_t most = 10'000;                     // runs
  std::function<bool(const Values&)> allowed{};  // none: every point is; others are left out and counted
};

struct DesignRun {
  Values at;
  std::size_t point = 0;        // the same for all replications of a point
  std::size_t replication = 0;  // from 0
  std::string varied{};  // one-at-a-time: the factor that is not at its usual value; "" at the usual point
};

struct Design {
  std::vector<DesignRun> runs;
  std::size_t points = 0;
  std::string counted;  // "4 x 4 x 3 = 48 points, 3 replications: 144 runs"
};

struct DesignEntry {
  std::string name, description;
};
const std::vector<DesignEntry>& designs();

// UserError: no factors, one named twice or without levels, a range that is none, too many runs, a
// space-filling design of no points or of more than there are, no point allowed.
Design make_design(std::span<const DesignFactor>, const DesignOptions&);

}  // namespace tandem::stats
