// Where the points of new trials come from: the half of a search that knows the space.
//
// Schedules (schedule.h) decide how long trials run; samplers where they are. Any sampler works with any
// schedule; BOHB is TPE under HyperBand. One user; pure: randomness only from the Random it is given (and
// from the seed, for sequences). What a sampler knows is a fold over began, observe and failed: sample itself
// leaves nothing behind that a later answer depends on, so history can be told without sampling again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "search/searcher.h"

namespace tandem::search {

class Sampler {
 public:
  virtual ~Sampler() = default;
  // The point of trial `trial` (ids come in order, from 0); nothing when the space is used up (grid). Throws
  // UserError when no point seems to meet the space's constraints.
  virtual std::optional<Values> sample(TrialId trial, Random&) = 0;
  // The trial exists at this point: it was sampled, or comes from history.
  virtual void began(TrialId, const Values&) {}
  // An epoch of it ended with these losses. Later epochs of a trial replace earlier ones in its rank, and
  // trials that ran longer count before those that ran shorter (as BOHB prescribes: the model is built on the
  // highest budget that has enough trials).
  virtual void observe(TrialId, std::int64_t /*epoch*/, const Losses&) {}
  // It failed: its point is a bad one, worse than all that reported.
  virtual void failed(TrialId) {}
};

struct SamplerOptions {
  std::size_t goals = 1;
  std::int64_t startup = 10;  // model-based samplers spread evenly until so many trials have reported
  std::int64_t candidates = 24;
  std::int64_t population = 24;  // evolutionary samplers
  std::uint64_t seed = 1;
  std::optional<std::int64_t>
      trials;  // how many there will be; a grid chooses the levels of real parameters by it
};
// By name: random, quasirandom, grid, tpe, tpe-multivariate, nsga2. Another name is a bug.
std::unique_ptr<Sampler> make_sampler(const std::string& name, const spec::Space&, const SamplerOptions&);
// How many points a grid over the space has; nothing for a space with continuous parameters, unless `trials` say
// how many levels these get. Exact up to 50 000 combinations that are quickly checked; beyond, the product, as if
// conditions and constraints took nothing away.
std::optional<std::int64_t> grid_size(const spec::Space&, std::optional<std::int64_t> trials = {});

}  // namespace tandem::search
