// Who chooses a batch size: our advisor, and those beside it. Each learns from the same past runs, which do
// not have the job's cells.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "advise/models.h"
#include "base/random.h"

namespace tandem::bench {

struct SloJob {
  int cpus = 1, jobs = 1;
  double slo = 0;
};

struct Choice {
  int batch = 0;
  double seconds = 0;  // predicted; 0: it does not predict
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual std::string name() const = 0;
  virtual void learn(const std::vector<advise::PastRun>&) = 0;
  virtual Choice choose(const SloJob&, const std::vector<int>& batches) = 0;
};

std::unique_ptr<Chooser> make_advisor(double probability);
std::unique_ptr<Chooser> make_random(std::uint64_t seed);
// Courier's way: a regression predicts time and accuracy; the most accurate batch whose predicted time is
// within the SLO, or the one predicted to be quickest.
std::unique_ptr<Chooser> make_by_point(std::string name, std::string regression, bool knows_jobs);

}  // namespace tandem::bench
