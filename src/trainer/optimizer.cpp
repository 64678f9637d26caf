#include "trainer/optimizer.h"

#include <cassert>
#include <cmath>

namespace tandem::trainer {

Optimizer::Optimizer(const OptimizerOptions& options, std::size_t weights) : options_(options) {
  first.assign(weights, 0.0F);
  if (options.kind == OptimizerOptions::Kind::adam) second.assign(weights, 0.0F);
}

void Optimizer::step(std::span<float> weights, std::span<float> gradients) {
  assert(weights.size() == first.size() && gradients.size() == first.size());
  ++steps;
  if (options_.kind == OptimizerOptions::Kind::sgd)
    sgd(weights.data(), gradients.data(), weights.size());
  else
    adam(weights.data(), gradients.data(), weights.size());
}

void Optimizer::sgd(float* __restrict weights, float* __restrict gradients, std::size_t count) {
  const auto rate = static_cast<float>(options_.learning_rate),
             momentum = static_cast<float>(options_.momentum),
             decay = static_cast<float>(options_.weight_decay);
  float* __restrict velocity = first.data();
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = momentum * velocity[i] + (gradients[i] + decay * weights[i]);
    weights[i] -= rate * velocity[i];
    gradients[i] = 0;
  }
}

void Optimizer::adam(float* __restrict weights, float* __restrict gradients, std::size_t count) {
  constexpr double kBeta2 = 0.999;
  constexpr float kEpsilon = 1e-8F;
  const auto beta1 = static_cast<float>(options_.momentum), beta2 = static_cast<float>(kBeta2),
             decay = static_cast<float>(options_.weight_decay);
  const double unbias1 = 1 - std::pow(options_.momentum, static_cast<double>(steps));
  const double unbias2 = 1 - std::pow(kBeta2, static_cast<double>(steps));
  const auto rate = static_cast<float>(options_.learning_rate / unbias1),
             scale = static_cast<float>(1 / std::sqrt(unbias2));
  float* __restrict mean = first.data();
  float* __restrict square = second.data();
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = gradients[i] + decay * weights[i];
    mean[i] = beta1 * mean[i] + (1 - beta1) * gradient;
    square[i] = beta2 * square[i] + (1 - beta2) * gradient * gradient;
    weights[i] -= rate * mean[i] / (std::sqrt(square[i]) * scale + kEpsilon);
    gradients[i] = 0;
  }
}

}  // namespace tandem::trainer
