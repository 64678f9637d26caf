// TPE: tree-structured Parzen estimator (Bergstra 2011), with what experience has added since.
//
// Assumptions: what was good is likely near what will be good. Losses are used by their order only.
// Rules, in order:
//   1. Until `startup` trials have reported, points are spread evenly over the space (a Halton sequence).
//   2. Trials are split into good and bad ones (split.h: ties, budgets, several goals, trials in flight).
//   3. Parameters with the same condition exist together and are drawn together, parents before children;
//      densities (parzen.h) are of the trials that have them.
//   4. `candidates` points are drawn from the density of the good ones; the first by l/g that meets the
//      constraints is taken. In a space of finitely many points none is tried twice while there are others.
//   5. When nothing acceptable comes up after a few rounds, the point is drawn at random.
// The univariate one differs from Optuna's: candidates are whole points, judged by the sum of log l/g over
// their parameters, where Optuna takes the best value of each parameter by itself and so runs to the edges of
// l.
#pragma once

#include <set>
#include <vector>

#include "search/parzen.h"
#include "search/sampler.h"
#include "search/sequence.h"
#include "search/split.h"

namespace tandem::search {

class Tpe final : public Sampler {
 public:
  // `multivariate`: parameters that exist together share one density.
  Tpe(const spec::Space&, const SamplerOptions&, bool multivariate);

  std::optional<Values> sample(TrialId, Random&) override;
  void began(TrialId, const Values&) override;
  void observe(TrialId, std::int64_t epoch, const Losses&) override;
  void failed(TrialId) override;

 private:
  // Parameters with one and the same condition.
  struct Group {
    std::vector<std::size_t> parameters;
    Parzen density;
    std::vector<std::int64_t> row_of;  // by trial: its number in the density; -1: it has no such parameters
  };

  std::vector<Parzen::Good> good_in(const Group&);
  void put(const Group&, const std::vector<double>& coordinates, Values&) const;
  std::vector<Values> proposals(Random&);

  spec::Space space_;
  SamplerOptions options_;
  bool finite_;  // a point can come twice
  AllowedPoints first_points_;
  std::vector<Group> groups_;
  Split split_;
  std::set<Values> seen_;  // kept for finite spaces only
};

}  // namespace tandem::search
