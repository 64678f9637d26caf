// A positive quantity as a smooth curve over batch sizes: what was seen at some says what to expect at
// others, and how surely.
//
// A Gaussian process on logarithms (of the quantity and of the batch size): Matérn 3/2 around a level nobody
// knows beforehand. Epochs to a target and costs of an epoch are of this kind: from one batch size to its
// double they change by some tens of per cent, in which direction is to be seen, and the further away the
// less is known. A run that was stopped says that its quantity is at least so much; such sightings are taken
// in by expectation propagation (Minka 2001, as for probit regression). Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::tune {

struct Sighting {
  double batch = 0;
  double log = 0;       // of the quantity
  double variance = 0;  // of that logarithm, around the curve
  bool at_least = false;
};

struct Belief {
  double mean = 0, variance = 0;  // of the curve's logarithm at a batch size
};

// At each of `batches`; with no sightings there is nothing to say (asserted).
std::vector<Belief> batch_curve(std::vector<Sighting>, const std::vector<std::int64_t>& batches);

}  // namespace tandem::tune
