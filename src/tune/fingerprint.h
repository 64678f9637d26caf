// What a workload class's counters say about the work itself, in a form that can be compared: logarithms,
// with how far each is to be trusted.
//
// Rates are per second of wall time, so a neighbour on the same CPU changes all of them; counts are therefore
// taken per CPU second, which leaves them as they are, and the CPU share is a feature of its own. Where a
// work has no CPU time they stay per wall second; only workload classes treated the same way are compared.
// Levels (resident-bytes, threads) are taken as they are. Where a workload class says how long an epoch takes
// in the reference configuration, the CPU time of an epoch is a feature too: rates alone cannot tell a
// network from one twice its size. Left out is what the surroundings do to a program rather than what it
// does: pressure of the whole machine, being switched out or moved, reads that missed the page cache, and
// what repeats another counter.
//
// What its GPUs did (measure/gpu_profile.h) is a fingerprint of its own: a few numbers, which among many of
// the CPU's would hardly count, and which alone tell a program that waits for memory from one that computes,
// where the CPU only waits for either. Of GPUs that were shared it says nothing of the workload class, and is
// left out. Pure.
#pragma once

#include <map>
#include <string>

#include "event/knowledge.h"

namespace tandem::tune {

struct Feature {
  double value = 0;   // logarithm
  double spread = 0;  // deviation of it between epochs of this workload class; 0: not known
  double floor = 0;   // deviation that runs of one workload class show although their epochs do not
  bool zero = false;  // nothing was counted: where both sides say so, it tells nothing
};

using Fingerprint = std::map<std::string, Feature>;

bool has_cpu_time(const KnownWorkload&);
// `per_cpu`: counts per CPU second; the work must have CPU time. Rates that are negative or not finite are
// left out.
Fingerprint fingerprint(const KnownWorkload&, bool per_cpu);
Fingerprint gpu_fingerprint(const KnownWorkload&);

}  // namespace tandem::tune
