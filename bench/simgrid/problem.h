// Random platforms and what happens on them, the same for both simulators; everything follows from the seed.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/topology.h"

namespace tandem::bench {

enum class Kind { star, uneven_star, fat_tree, torus, graph };
inline constexpr int kKinds = 5;
const char* name(Kind);

struct Machine {
  double flops_a_second = 0;  // a core's
  int cores = 1;
};

// A computation on `from`, or a transfer.
struct Work {
  double start = 0;
  std::size_t from = 0, to = 0;
  double amount = 0;  // flops, or whole bytes
  bool transfer = false;
};

struct Problem {
  Kind kind = Kind::star;
  std::vector<Machine> machines;
  sim::Cable cable, up;      // of nodes (star, fat tree, torus); of leaves
  std::size_t per_leaf = 1;  // of a fat tree
  std::vector<std::size_t>
      sizes;                 // of a torus: odd, for half the way round an even one has two shortest ways
  std::size_t switches = 0;  // of a graph; an uneven star has one
  std::vector<sim::Topology::Edge> edges;
  std::vector<Work> works;
};

Problem random_problem(std::uint64_t seed);
sim::Topology build(const Problem&, sim::Engine&);

// How much of a contended link a transfer gets under CM02: SimGrid divides by the latency of the route, and
// by 1 where there is none (network/weight-S:0).
inline double cm02_weight(double latency) {
  return latency > 0 ? 1 / latency : 1;
}

// When each work is complete.
std::vector<double> run_on_tandem(const Problem&);

}  // namespace tandem::bench
