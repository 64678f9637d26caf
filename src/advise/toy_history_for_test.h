// Past runs of a made-up program whose time is known: start-up, and per epoch records / batch steps of a
// fixed part and one that cores share, slower with more jobs. For tests.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "advise/history.h"
#include "base/random.h"

namespace tandem::advise {

inline Setting toy_setting(std::int64_t batch, int cores, std::int64_t epochs = 10) {
  Setting out;
  out.hyper["batch_size"] = batch;
  out.system.cores = cores;
  out.epochs = epochs;
  return out;
}

inline double toy_epoch_seconds(double batch, double cores, double jobs) {
  return 10'000 / batch * (0.02 + 0.001 * batch / cores) * (1 + 0.3 * (jobs - 1));
}

// Falls with the batch size, rises with epochs.
inline double toy_accuracy(double batch, double epoch) {
  return 0.98 - 0.02 * std::log2(batch / 32) - 0.4 / (1 + epoch);
}

inline PastRun toy_run(std::int64_t batch, int cores, int jobs, double noise, std::int64_t epochs = 10) {
  PastRun run;
  run.program = "toy/data";
  run.machine = "here";
  run.setting = toy_setting(batch, cores, epochs);
  run.load = {{{0}, static_cast<double>(jobs), static_cast<double>(cores * jobs)}};
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    run.epoch_seconds.push_back(toy_epoch_seconds(static_cast<double>(batch), cores, jobs) * std::exp(noise));
    run.metrics.push_back(
        {epoch, {{"accuracy", toy_accuracy(static_cast<double>(batch), static_cast<double>(epoch))}}});
  }
  double sum = 2;  // start-up
  for (const double seconds : run.epoch_seconds) sum += seconds;
  run.seconds = {sum};
  run.joules = Joules{30 * cores * sum};
  run.joules_source = "model";
  return run;
}

// Every batch × cores × jobs `repeats` times.
inline std::vector<PastRun> toy_history(int repeats, double noise, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<PastRun> out;
  for (int i = 0; i < repeats; ++i)
    for (const int batch : {32, 64, 128, 256})
      for (const int cores : {1, 2, 4})
        for (const int jobs : {1, 2, 3}) out.push_back(toy_run(batch, cores, jobs, noise * random.normal()));
  return out;
}

}  // namespace tandem::advise
