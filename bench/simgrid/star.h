// Star clusters: each host alternates a computation and a transfer to the next host but k, in round k.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/topology.h"

namespace tandem::bench {

struct Star {
  Star(std::uint32_t hosts, std::uint32_t rounds, std::uint64_t seed);

  // (i + k + 1) mod n, passing over the host itself.
  std::uint32_t target(std::uint32_t i, std::uint32_t k) const { return (i + k % (hosts - 1) + 1) % hosts; }
  double flops(std::uint32_t i, std::uint32_t k) const { return flops_[k * std::size_t{hosts} + i]; }
  double bytes(std::uint32_t i, std::uint32_t k) const { return bytes_[k * std::size_t{hosts} + i]; }

  std::uint32_t hosts, rounds;
  static constexpr double speed = 1e9;
  static constexpr sim::Cable cable{1.25e8, 5e-5};

 private:
  std::vector<double> flops_, bytes_;  // random, so that completions do not coincide; bytes are whole
};

// What a simulator made of it, set-up excluded.
struct StarRun {
  double wall = 0, cpu = 0;  // s
  double completed = 0;      // computations and transfers
  double end = 0;            // the last completion, simulated s
  double mean_end = 0;       // of the hosts' last completions
};

StarRun star_on_tandem(const Star&);

}  // namespace tandem::bench
