// What other batch sizes tell of one: how an epoch's time changes with the configuration.
//
// An epoch is its samples' work, which cores share, and an overhead a batch, which they do not (starting
// kernels, waiting for each other): t(batch) = samples + overhead / batch. The overhead's share follows from
// how the time in the reference configuration falls with the batch size; what the configuration does to the
// rest is then taken over from batches that were seen in it. Pure.
#pragma once

#include <optional>
#include <span>

namespace tandem::tune {

// Epochs of one batch size: seconds in the reference configuration and, where it was seen, in the other.
struct BatchSeen {
  double batch = 0, reference = 0;
  std::optional<double> there;
};

// Seconds there, of those in the reference, for epochs of `batch`; nothing when no batch was seen there.
std::optional<double> expected_ratio(double batch, std::span<const BatchSeen>);

}  // namespace tandem::tune
