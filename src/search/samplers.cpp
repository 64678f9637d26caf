#include <cassert>

#include "search/grid.h"
#include "search/nsga2.h"
#include "search/points.h"
#include "search/sampler.h"
#include "search/sequence.h"
#include "search/tpe.h"

namespace tandem::search {
namespace {

class RandomSampler final : public Sampler {
 public:
  explicit RandomSampler(const spec::Space& space) : space_(space) {}
  std::optional<Values> sample(TrialId, Random& random) override { return draw(space_, random); }

 private:
  spec::Space space_;
};

class Quasirandom final : public Sampler {
 public:
  Quasirandom(const spec::Space& space, std::uint64_t seed) : points_(space, seed) {}
  std::optional<Values> sample(TrialId trial, Random&) override { return points_.point(trial); }

 private:
  AllowedPoints points_;
};

}  // namespace

std::unique_ptr<Sampler> make_sampler(const std::string& name, const spec::Space& space,
                                      const SamplerOptions& options) {
  if (name == "random") return std::make_unique<RandomSampler>(space);
  if (name == "quasirandom") return std::make_unique<Quasirandom>(space, options.seed);
  if (name == "grid") return std::make_unique<Grid>(space, options);
  if (name == "nsga2") return std::make_unique<Nsga2>(space, options);
  assert(name == "tpe" || name == "tpe-multivariate");
  return std::make_unique<Tpe>(space, options, name == "tpe-multivariate");
}

}  // namespace tandem::search
