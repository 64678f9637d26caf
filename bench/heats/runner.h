// Replays of the 480 tasks under a policy, on one reading of the cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/heats/cluster.h"

namespace tandem::bench {

struct Split {  // of the three Intels
  std::size_t e3, e5;
  std::string name() const;
};
inline constexpr Split kSplits[] = {{2, 1}, {1, 2}};

struct Setting {
  Split split{};
  double idle = 1;        // times the assumed draw
  double shorter = 1;     // times fewer iterations
  bool restarts = false;  // the other reading of figure 3.1 (cluster.h)
  double sample = 0;
};

// Probes the machines once; any number of runs after that.
class Runner {
 public:
  explicit Runner(const Setting&);
  sim::Replayed run(const std::string& policy, std::uint64_t seed);
  double idle_watts() const;
  std::vector<sim::ReplayJob> jobs(std::uint64_t seed) const;

 private:
  Setting setting_;
  std::vector<HeatsMachine> machines_;
  place::HeatsModel model_;
};

}  // namespace tandem::bench
