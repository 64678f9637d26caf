// How the samples of a workload become steps, and those of a step become workers' shares. Nothing is lost.
//
// A workload is a stream of samples: iterations × batch, else samples × epochs, whatever the number of
// workers. A step takes `batch` of them for all workers together (strong scaling) or for each worker (weak
// scaling), the last step what is left. Plain values; pure.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/cluster.h"

namespace tandem::sim {

// Equal shares; what does not divide evenly goes to the first ones, one more each.
std::vector<std::int64_t> divide(std::int64_t samples, std::size_t among);

struct Steps {
  std::int64_t total = 0;  // samples
  std::int64_t full = 0;   // samples of a step
  std::int64_t last = 0;   // samples of the last one; 1 to full
  std::int64_t count = 0;  // with the last
};
// Throws UserError: no batch, nothing to do, more than can be counted.
Steps steps_of(const spec::Workload&);

// Steps in a row that are alike.
struct Stretch {
  std::int64_t samples = 0;
  std::int64_t next = 0;  // to be read meanwhile
  std::int64_t count = 0;
  bool operator==(const Stretch&) const = default;
};
std::vector<Stretch> stretches(const Steps&, bool reads);

}  // namespace tandem::sim
