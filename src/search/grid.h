// A grid: every combination of choices and whole numbers once; real parameters get evenly spaced levels.
//
// Levels: as many a parameter as keep the grid within `trials` (at least two: the ends), the same number for
// all but for one. Order: a Halton sequence walks over the grid and skips what it has visited, so that any
// first part of the grid is spread over all of it; what is left when the walk meets little new comes in
// shuffled order. Only parameters that exist count, so no point comes twice; points against a constraint are
// left out. A point is found when it is asked for. What is left of a grid that is too large to be listed at once
// is looked through as asked; it ends early where most_tries() (points.h) combinations in a row are against
// a constraint.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "search/sampler.h"
#include "search/sequence.h"

namespace tandem::search {

class Grid final : public Sampler {
 public:
  Grid(const spec::Space&, const SamplerOptions&);
  std::optional<Values> sample(TrialId, Random&) override;

 private:
  using Place = std::vector<std::int64_t>;  // the level of each parameter; -1 for one that does not exist

  void go_on();
  bool walk_on();
  bool scan_on();
  void add_the_rest();
  bool visit(const Place&);

  spec::Space space_;
  std::uint64_t seed_;
  std::vector<std::int64_t> levels_;
  Halton sequence_;
  std::uint64_t index_ = 0;
  std::int64_t scanned_ = 0;  // of all combinations, once the walk meets little new
  bool walking_ = true, complete_ = false;
  std::set<Place> visited_;
  std::vector<Place> order_;  // a prefix of the whole order, the same however it is asked for
};

}  // namespace tandem::search
