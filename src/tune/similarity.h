// Is this workload class like one we know? PipeTune's similarity function (5.4, 5.6), pluggable.
//
// Features are the rates of counters in the reference configuration, per CPU second, as logarithms, over the
// names both sides have (fingerprint.h says which and why); where both sides timed their epochs there, the
// CPU time of an epoch too. Each is measured in units of how much it varies between epochs of one and the
// same work (its own, drawn towards what is usual among all that is known), with a floor, and weighted down
// where that is much, so that a noisy counter says little and a steady one says much. What GPUs did is
// compared apart, and the greater of both distances counts; a workload class that knows it and one that does
// not cannot be compared, for the CPU cannot tell for them. Only works of the same machine type, the same
// batch size and the same reference configuration are compared. No names of models or data are involved.
// Rates are best taken from epochs of the same kind on both sides: first epochs warm up, later ones do not.
// Pure; deterministic (ties go to the lower index).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/knowledge.h"

namespace tandem::tune {

struct Match {
  std::size_t known = 0;  // index of the most alike
  double distance = 0;    // root of the weighted mean squared difference over the features, CPU's or GPUs'
  double limit = 0;       // within this it is alike
  bool alike() const { return distance <= limit; }
  // 1 at distance 0, 0.5 at the limit, towards 0 beyond it.
  double confidence() const { return limit > 0 ? 1 / (1 + (distance / limit) * (distance / limit)) : 0; }
};

class Similarity {
 public:
  virtual ~Similarity() = default;
  // The most alike of what is known, or nothing when nothing can be compared.
  virtual std::optional<Match> find(const KnownWorkload&) const = 0;
};

struct SimilarityEntry {
  std::string name, description;
};
// nearest: the nearest neighbour, with a distance calibrated on how far epochs of one workload class lie
// apart. kmeans: PipeTune's; the limit is the cluster's mean squared distance (not the inertia, which grows
// with history until everything matches); k grows from 2 while clusters are wider than epochs of one workload
// class.
const std::vector<SimilarityEntry>& similarities();
std::unique_ptr<Similarity> make_similarity(const std::string& name, std::span<const KnownWorkload> known);

// The features two works share, standardised; for plots of what is alike.
struct Features {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;  // one a workload class, in units of the spread
};
Features features(std::span<const KnownWorkload>);

}  // namespace tandem::tune
