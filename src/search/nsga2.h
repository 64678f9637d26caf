// NSGA-II (Deb 2002) without generations: evolution towards a Pareto front with any number of trials in
// flight.
//
// Assumptions: a trial's last losses stand for it, whatever epoch they are from.
// Rules, in order:
//   1. Until as many trials as the population holds have reported, points are spread evenly over the space.
//   2. The population is the best that reported, by rank of non-domination, then by crowding; each report is
//      weighed against it at once (a steady state instead of generations, so that nobody waits).
//   3. A child has two parents, each the better of two members drawn at random. Numbers are crossed over in
//   the
//      unit cube (simulated binary crossover), choices are inherited from either parent.
//   4. Each parameter then changes with probability 1/parameters: numbers by polynomial mutation (whole
//   numbers
//      by one at least), choices to another one. A parameter that neither parent has is drawn at random.
//   5. A child against a constraint, or where a trial has been, is made again; after many tries it is drawn
//   at
//      random.
#pragma once

#include <set>
#include <vector>

#include "search/sampler.h"
#include "search/sequence.h"

namespace tandem::search {

class Nsga2 final : public Sampler {
 public:
  Nsga2(const spec::Space&, const SamplerOptions&);
  std::optional<Values> sample(TrialId, Random&) override;
  void began(TrialId, const Values&) override;
  void observe(TrialId, std::int64_t epoch, const Losses&) override;
  void failed(TrialId) override;

 private:
  const Values& tournament(Random&) const;
  Values child(const Values& mother, const Values& father, Random&) const;

  spec::Space space_;
  std::size_t size_;
  AllowedPoints first_points_;
  std::vector<Values> points_;  // by trial
  std::set<Values> seen_;
  std::set<TrialId> reported_;
  std::vector<TrialId> members_;  // best first
  std::vector<Losses> losses_;    // of the members
};

}  // namespace tandem::search
