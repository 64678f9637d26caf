// What other batch sizes tell of one: how an epoch's time changes with the configuration.
//
// An epoch is its samples' work, which cores share, and an overhead a batch, which they do not (starting
// kernels, waiting for each other): t(batch) = samples + overhead / batch. The overhead's share follows from
// how the time in the reference configuration falls with the batch size; what the configuration does to the
// rest is then taken over from batches that were seen in it, as far as more cores can help at all. Pure.
#pragma once

#include <optional>
#include <span>

#include "base/resources.h"

namespace tandem::tune {

// Reporting an epoch takes up to 5 ms: a shorter one than this says nothing of what others take elsewhere.
inline constexpr double kTelling = 0.02;

// The least that an epoch can take in `system` of what it takes in `reference`: more cores, or quicker ones, help
// no more than in proportion. 0 where they differ in more than these.
double least_ratio(const Resources& reference, const Resources& system);

// Epochs of one batch size: seconds in the reference configuration and, where it was seen, in the other.
struct BatchSeen {
  double batch = 0, reference = 0;
  std::optional<double> there;
};

// Seconds there, of those in the reference, for epochs of `batch`, but `least`; nothing when no batch was seen there
// in epochs that are long enough to tell.
std::optional<double> expected_ratio(double batch, std::span<const BatchSeen>, double least = 0);

}  // namespace tandem::tune
