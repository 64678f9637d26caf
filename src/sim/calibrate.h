// A device of the simulator from what was measured on a real machine: one profiling run, whatever it trained.
//
// What is fitted, by least squares of the relative error:
//
//     epoch = arithmetic / (efficiency · peak of one core · (1 + (cores - 1) · added_core))
//           + steps · passes · overhead
//
// Batches are told apart from arithmetic only where several batch sizes were measured, and further cores only
// where several numbers of cores were; what cannot be told apart is left at its default, and said. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/operations.h"
#include "spec/cluster.h"

namespace tandem::sim {

struct MeasuredEpoch {
  std::int64_t batch = 0;
  int cores = 1;
  double seconds = 0;  // without start-up
};

struct Calibration {
  spec::DeviceType device{};                 // as given, with efficiency, overhead and added_core
  double median_error = 0, worst_error = 0;  // of its own epochs, as shares; signs dropped
  std::vector<std::string> notes{};          // what could not be told apart
};

// `device`: name, cores (the most there are), clock and flops_a_cycle. `samples`: of an epoch. UserError when
// nothing usable was measured.
Calibration calibrate(const graph::Model&, std::int64_t samples, const std::vector<MeasuredEpoch>&,
                      spec::DeviceType device);

// What the fitted formula says of an epoch; the simulator says the same (a test shows it).
double epoch_seconds(const spec::DeviceType&, const graph::Model&, std::int64_t samples, std::int64_t batch,
                     int cores);

}  // namespace tandem::sim
