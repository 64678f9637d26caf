// The networks, each twice: as a forward pass to train with, and as TorchScript source to be exported.
//
// All weights of a network lie in one flat array and all gradients in another (`pack`), so that the optimizer
// makes one pass and a checkpoint is one copy; the parameters are views into them. One thread uses a Net.
// Weights are drawn from libtorch's default generator.
#pragma once

#include <torch/script.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/learner.h"

namespace tandem::trainer {

class Net {
 public:
  virtual ~Net() = default;

  // A batch of samples to a batch of logits, or of scaled targets; dropout acts while `training`.
  virtual torch::Tensor forward(const torch::Tensor& batch) const = 0;

  std::span<float> weights() { return {flat_weights_.data_ptr<float>(), size()}; }
  std::span<float> gradients() { return {flat_gradients_.data_ptr<float>(), size()}; }
  std::size_t size() const { return static_cast<std::size_t>(flat_weights_.numel()); }

  // The same function without dropout, in real units when `scaling` is given. Runs in any libtorch, Python's
  // too.
  torch::jit::Module script(const std::optional<Learner::Scaling>& scaling) const;

  bool training = true;

 protected:
  // Uniform in +-1/sqrt(fan_in), as libtorch's own layers start.
  torch::Tensor parameter(const std::string& name, std::vector<std::int64_t> sizes, std::int64_t fan_in);
  // Statements that turn `x` into the result, also called `x`; parameters are self.NAME.
  virtual std::string body() const = 0;
  // To be called once, after the last parameter.
  void pack();

 private:
  std::vector<std::pair<std::string, torch::Tensor>> parameters_;
  torch::Tensor flat_weights_, flat_gradients_;
};

// Throws UserError when the model cannot take the dataset's samples.
std::unique_ptr<Net> make_net(const Setup&, const data::Dataset&);

}  // namespace tandem::trainer
