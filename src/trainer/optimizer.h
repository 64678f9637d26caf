// Gradient steps over one flat array of weights: one pass, no allocation, the same result on any number of
// threads.
//
// Weights, gradients and moments of a network lie in one array each, so a step is a single loop and a
// checkpoint is a copy. Padding between parameters has gradient zero and stays zero.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tandem::trainer {

struct OptimizerOptions {
  enum class Kind { sgd, adam };
  Kind kind = Kind::sgd;
  double learning_rate = 0.01;
  double momentum = 0.9;  // adam: beta 1
  double weight_decay = 0;
};

class Optimizer {
 public:
  Optimizer(const OptimizerOptions&, std::size_t weights);

  // Moves the weights against the gradients, and sets the gradients to zero for the next batch.
  void step(std::span<float> weights, std::span<float> gradients);

  // What a checkpoint keeps: steps made, first and second moments (adam alone has second ones).
  std::int64_t steps = 0;
  std::vector<float> first, second;

 private:
  void sgd(float* weights, float* gradients, std::size_t count);
  void adam(float* weights, float* gradients, std::size_t count);

  OptimizerOptions options_;
};

}  // namespace tandem::trainer
