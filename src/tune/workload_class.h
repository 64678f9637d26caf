// What is known of the costs of a job's trials: workload classes, and how long an epoch of each takes in each
// configuration.
//
// Trials whose epochs cost alike are one workload class, whatever their other hyperparameters: same batch
// size and like profile. They share what is learned, so that probing is paid once (HyperBand gives most
// trials one epoch). Times of configurations nobody ran are predicted from those that were run: t(cores) =
// parallel / cores + serial, inversely with speed, from those with the same GPU settings and precision where
// there are any.
//
// The first epoch of a process often takes longer than later ones (PyTorch imports lazily: 7 s instead of 2
// on one machine), so the two are kept apart: what later epochs take counts, and where only first ones were
// seen, they are scaled by how much shorter later ones were elsewhere. One owner; pure.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "event/view.h"

namespace tandem::tune {

struct Cost {
  double seconds = 0;
  std::optional<double> joules;
  bool measured = false;  // in this job, or in the earlier one it is like
};

// What an epoch takes on so many cores of what it takes on one, before anything was seen: most of it runs in
// parallel.
double usual_share(int cores);

class WorkloadClass {
 public:
  WorkloadClass(double batch, Resources reference) : batch_(batch), reference_(reference) {}

  // An epoch of it ran. Returns true when the machine's load must have shifted: three times in a row an epoch
  // took much longer, or much shorter, than all the last ones of this configuration; what was measured before
  // is then forgotten. One or two are the noise of shared machines: they join the others. `first`: of its
  // process. Profiles are made of first epochs only, because that is what they will be compared with: warming
  // up leaves its marks on the counters.
  bool add(const EpochRecord&, bool first);
  // Taken from work that an earlier job measured; times are scaled to this one's in the reference.
  void adopt(const KnownWorkload&);

  // `warmth`: a later epoch's time of a first one's, used where this workload class has not shown it itself.
  Cost cost(const Resources&, double warmth = 1) const;
  // What more cores would take if they helped as they usually do, from the quickest number that was measured.
  // No hope (infinite) when two larger numbers than that did not help: one alone may have been unlucky.
  double hoped(const Resources&, double warmth = 1) const;
  std::optional<double> warmth() const;
  bool measured(const Resources&) const;
  std::int64_t epochs(const Resources&) const;  // how often it was measured
  bool reused() const { return reused_; }
  double batch() const { return batch_; }
  const Resources& reference() const { return reference_; }
  Bytes memory() const { return memory_; }  // the most that was resident; 0: not known
  int trials = 0;

  // As it goes into the ground truth; nothing when there is nothing new in it.
  std::optional<KnownWorkload> known(const std::string& machine) const;
  // The profile alone, for comparing.
  KnownWorkload profile(const std::string& machine) const;

  nlohmann::json save() const;  // all of it, exactly
  static WorkloadClass restored(const nlohmann::json&);

 private:
  struct Sums {
    std::vector<double> seconds;  // the last few
    std::size_t doubtful = 0;     // of these, the last ones: surprises that may yet become a shift
    double joules = 0;
    std::int64_t epochs = 0, with_joules = 0;
    void add(const EpochRecord&);
    std::optional<double> mean_joules() const;
  };
  struct Configuration {
    Resources system;
    Sums first, later;     // of their processes
    bool adopted = false;  // the later ones
    std::int64_t epochs() const { return first.epochs + later.epochs; }
  };
  struct Rate {
    double sum = 0, squares = 0;
    std::int64_t count = 0;
  };
  const Configuration* find(const Resources&) const;
  int surprise(const Sums&, double seconds) const;
  bool believe(int surprise);
  Cost cost_of(const Configuration&, double warmth) const;
  double predicted(const Resources&, double warmth) const;

  double batch_;
  Resources reference_;
  std::vector<Configuration> configurations_;
  std::map<std::string, Rate> rates_;  // in the reference configuration
  Bytes memory_ = 0;
  int longer_ = 0, shorter_ = 0;  // surprises in a row
  bool reused_ = false, news_ = false;
};

}  // namespace tandem::tune
