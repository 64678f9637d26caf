// How bench/trainer/run speaks to the loops: a line "batch threads" in, the seconds of one pass over the
// first kImages of MNIST out. Each pass goes on with the weights of the last one of the same batch size.
#pragma once

#include <chrono>
#include <cstdio>
#include <iostream>

#include "data/dataset.h"

namespace tandem::bench {

inline constexpr std::int64_t kImages = 4096;
inline constexpr double kLearningRate = 0.01, kMomentum = 0.9;

inline data::Dataset first_images() {
  data::Dataset mnist = data::load("mnist", data::folders_from_environment());
  mnist.train.count = kImages;
  mnist.train.values.resize(kImages * 28 * 28);
  mnist.train.labels.resize(kImages);
  return mnist;
}

// `pass(batch, threads)` makes one pass.
template <class Pass>
void answer_questions(const Pass& pass) {
  std::puts("ready");
  std::fflush(stdout);
  std::int64_t batch = 0;
  int threads = 0;
  while (std::cin >> batch >> threads) {
    const auto begin = std::chrono::steady_clock::now();
    pass(batch, threads);
    std::printf("%.9f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::fflush(stdout);
  }
}

}  // namespace tandem::bench
