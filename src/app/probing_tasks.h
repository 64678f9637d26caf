// HEATS' probing: short computations of known work, for every machine type of a server, from which jobs that
// look alike (place.family, place.work) are predicted there.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace tandem::app {

struct ProbingTask {
  std::string type, family;  // of machines; what jobs name in place.family
  int work = 0;
  std::string spec;  // to be submitted
};

// Every family in several amounts on each of the types, `rounds` times.
std::vector<ProbingTask> probing_tasks(const std::set<std::string>& types, int rounds);

}  // namespace tandem::app
