// Thresholds above which a node counts as busy, learned for each class of jobs from how its jobs went.
//
// A job that shares a resource of which others use u gets 1 - u of it, so what it does there takes
// 1 / (1 - u) as long. With b_r the part of its time an undisturbed job spends on resource r, the time of a
// step is
//     t = t0 (1 + sum over r of b_r u_r / (1 - u_r)).
// t0 and the b_r are fitted to the last runs of the class (least squares, none negative). The threshold of r
// is where r alone slows the class by what is tolerated: u = tolerated / (tolerated + b_r). A class that
// hardly uses its CPU may thus go where the CPU is busy, and one that lives on its GPU may not go where the
// GPU is.
//
// Two guards: a threshold does not rise above both the one at first and the most that was tried, as what was
// never seen is not known to be harmless; and those of memory never rise above those at first, as full memory
// ends jobs instead of slowing them. A threshold above kFull says that the class does not mind that
// resource's load.
//
// Assumes: the job is as slow as on the busiest of its workers; a share above kFull counts as that, as beyond
// it others give way. Where resources were always busy together the fit cannot tell whose fault it was, and
// divides it among them. Until a class has enough runs the thresholds at first are used. Pure; one owner.
#pragma once

#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "place/infra/infra_nodes.h"

namespace tandem::place {

struct ThresholdOptions {
  Shares at_first{{0.8, 0.9, 0.8, 0.8, 0.9}};  // CPU, memory, network, GPU, GPU memory
  double tolerated = 0.25;                     // slowing by one resource
  std::size_t least_runs = 8, kept = 64;       // of a class
};

class JobClasses {
 public:
  explicit JobClasses(ThresholdOptions options = {}) : options_(options) {}

  // A job ended. `in_use`: by others, on the busiest of its workers for each resource, when it was placed.
  // `seconds_each`: seconds for the same work (a sample, a step of the same size). Throws SystemError:
  // numbers that cannot be.
  void ran(const std::string& job_class, const Shares& in_use, double seconds_each);

  std::size_t runs(const std::string& job_class) const;
  Shares thresholds(const std::string& job_class) const;
  // The b_r; all 0 until there are enough runs.
  Shares time_spent(const std::string& job_class) const;
  nlohmann::json to_json() const;  // what ran, exactly
  void restore(const nlohmann::json&);

 private:
  struct Run {
    Shares in_use{};
    double seconds_each = 0;
  };
  Shares fitted_thresholds(const std::string& job_class) const;

  ThresholdOptions options_;
  std::map<std::string, std::deque<Run>> runs_;
  mutable std::map<std::string, Shares> fitted_;  // until the class's next run: a fit takes a tenth of a ms
};

inline constexpr double kFull = 0.95;

}  // namespace tandem::place
