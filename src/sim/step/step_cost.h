// How long an operation takes on a device, and how much memory training needs there.
//
// A roofline: the longer of arithmetic (FLOPs over peak × efficiency × share of the full clock) and moving
// bytes (over the memory's bandwidth), and before it what starting an operation takes. Forward an operation
// reads its inputs and parameters and writes its outputs. Backward it reads and writes twice that for
// gradients, and updating adds one more pass over the parameters: in all four passes over the parameters and
// three over what flows, a step. Inputs of the model cost nothing: feed and storage bring them. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operations.h"
#include "spec/cluster.h"

namespace tandem::sim {

struct Cost {
  double seconds = 0;
  double memory = 0;  // of these, what the memory adds to the arithmetic
  Cost& operator+=(const Cost& other) {
    seconds += other.seconds;
    memory += other.memory;
    return *this;
  }
  friend Cost operator*(const Cost& cost, double by) { return {cost.seconds * by, cost.memory * by}; }
};

Cost cost(const spec::DeviceType&, double clock_share, double flops, double bytes);
// One operation, forward or backward.
Cost pass_cost(const spec::DeviceType&, double clock_share, const graph::Model&, std::uint32_t operation,
               bool backward, std::int64_t samples);
// Adding up `copies` of gradients and updating the parameters they are for.
Cost update_cost(const spec::DeviceType&, double clock_share, double gradient_bytes, std::size_t copies);

// Bytes for training some operations of a model with as many samples at a time: parameters three times (their
// gradients and the optimiser's copy), and what operations pass on, kept for the backward pass. Element-wise
// operations write over their input.
double memory_needed(const graph::Model&, const std::vector<std::uint32_t>& operations, std::int64_t samples);
// Throws UserError when it is more than the device has.
void check_memory(const spec::DeviceType&, const graph::Model&, const std::vector<std::uint32_t>& operations,
                  std::int64_t samples);

}  // namespace tandem::sim
