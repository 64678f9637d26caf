// The findings of the thesis: what it prints, what the simulator says, and why they differ. Verdicts and the
// numbers in the reasons are computed.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/sim_validation/report.h"
#include "bench/sim_validation/thesis_runs.h"

namespace tandem::bench {

struct Finding {
  std::string claim{}, printed{}, ours{}, why{};
  bool reproduced = false;  // else refuted
};

// All that was run of A1, by batch and workers.
struct Runs {
  using Square = std::array<std::array<Outcome, 4>, 4>;
  Square server{}, server_plain{}, mirrored{}, mirrored_plain{};  // plain: communication is not overlapped
};
Runs run_all(Kth&);

// Speed-ups of several workers over one.
struct Speedups {
  double most = 0;  // as a share of the workers
  std::size_t count = 0;
  void add(double one, double several, int workers);
};

Finding batch_and_time(Kth&);
Finding server_usage(const Kth&, const Runs&);
Finding mirrored_alone(const Kth&, const Runs&);
Finding mirrored_flat(const Runs&);
Finding energy(Kth&, const Runs&);

Finding alexnet_strategies();
Finding vgg_strategies();
Finding communication();
Finding super_linear(const Runs&, Speedups&);

// "0.847, 0.793"
template <class Row>
std::string list(const Row& row, int digits) {
  std::string out;
  for (const double value : row) out += (out.empty() ? "" : ", ") + plain(value, digits);
  return out;
}

}  // namespace tandem::bench
