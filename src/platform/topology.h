// Which CPUs this process may use, how they hang together, and which to hand to a task.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/units.h"

namespace tandem::platform {

struct Cpu {
  int id = 0;     // as the operating system counts
  int core = 0;   // physical core: two Cpus of one core share its pipelines
  int cache = 0;  // group that shares the last-level cache
  int numa = 0;
  int package = 0;
};

struct Topology {
  std::vector<Cpu>
      cpus;           // only those this process may run on, in the order of (package, numa, cache, core, id)
  Bytes memory = 0;   // of the machine
  std::string model;  // "AMD EPYC"

  static Topology detect();
};

// `count` of the free CPUs that lie close together: inside one cache group or NUMA node when one has room
// (the one with the least room left over), physical cores before their second threads. Empty when there are
// not enough.
std::vector<int> choose_cpus(const Topology&, const std::set<int>& free, int count);

}  // namespace tandem::platform
