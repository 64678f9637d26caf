#include "trainer/net.h"

#include <cmath>

namespace tandem::trainer {
namespace {

constexpr std::int64_t kAlignment = 16;  // floats: each parameter starts on a cache line

std::int64_t aligned(std::int64_t count) {
  return (count + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

torch::Tensor Net::parameter(const std::string& name, std::vector<std::int64_t> sizes, std::int64_t fan_in) {
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  torch::Tensor made = torch::empty(sizes).uniform_(-bound, bound).requires_grad_(true);
  parameters_.emplace_back(name, made);
  return made;
}

void Net::pack() {
  std::int64_t total = 0;
  for (const auto& [name, tensor] : parameters_) total += aligned(tensor.numel());
  flat_weights_ = torch::zeros({total});
  flat_gradients_ = torch::zeros({total});
  std::int64_t offset = 0;
  for (auto& [name, tensor] : parameters_) {
    const torch::Tensor view = flat_weights_.narrow(0, offset, tensor.numel()).view(tensor.sizes());
    view.copy_(tensor.detach());
    tensor.set_data(view);
    tensor.mutable_grad() = flat_gradients_.narrow(0, offset, tensor.numel()).view(tensor.sizes());
    offset += aligned(tensor.numel());
  }
}

torch::jit::Module Net::script(const std::optional<Learner::Scaling>& scaling) const {
  torch::jit::Module module("Model");
  for (const auto& [name, tensor] : parameters_)
    module.register_parameter(name, tensor.detach().clone(), false);
  std::string source = "def forward(self, x: Tensor) -> Tensor:\n";
  if (scaling) {
    module.register_buffer("feature_mean", torch::tensor(scaling->feature_mean));
    module.register_buffer("feature_deviation", torch::tensor(scaling->feature_deviation));
    module.register_buffer("target_mean", torch::tensor(scaling->target_mean));
    module.register_buffer("target_deviation", torch::tensor(scaling->target_deviation));
    source += "  x = (x - self.feature_mean) / self.feature_deviation\n";
  }
  source += body();
  if (scaling) source += "  x = x * self.target_deviation + self.target_mean\n";
  module.define(source + "  return x\n");
  module.eval();
  return module;
}

}  // namespace tandem::trainer
