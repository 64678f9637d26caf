// How long a server is busy with one customer, as a queueing formula needs it: two moments, the transform
// E[exp(-s T)], and slices of it for what has no transform. Plain values; pure.
#pragma once

#include <vector>

#include "stats/queues/inversion.h"
#include "stats/queues/phase_type.h"

namespace tandem::stats {

struct ServiceTime {
  double mean = 0, square = 0;  // E[T], E[T²]
  Transform transform{};
  std::function<std::vector<PhaseType::Slice>()> slices{};  // asked only where needed: they take a while
};

inline constexpr int kSlices = 96;

ServiceTime service_of(const PhaseType&);
ServiceTime fixed_service(double seconds);
// Served at the usual speed until the timeout, `speed` times as fast from then on. Exact: the chain's phase
// at the timeout is known, and what is left of it is the same chain from there, sped up.
ServiceTime sped_up_service(const PhaseType&, double timeout, double speed);
// The mean time served at the higher speed there.
double sped_up_seconds(const PhaseType&, double timeout, double speed);
// One of two, the first with probability `share`.
ServiceTime either_service(double share, const ServiceTime&, const ServiceTime&);

}  // namespace tandem::stats
