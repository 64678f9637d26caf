// max_pool2d(relu(x), 2) in one pass, forwards and backwards.
//
// libtorch's own pair took a quarter of a LeNet-5 step: three passes over the largest tensors, and eight-byte
// indices. Values are the same to the bit; where a window ties, the first wins, as in libtorch.
#pragma once

#include <torch/script.h>

namespace tandem::trainer {

torch::Tensor relu_pool(const torch::Tensor& images);

}  // namespace tandem::trainer
