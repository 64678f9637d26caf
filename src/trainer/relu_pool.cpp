#include "trainer/relu_pool.h"

#include <torch/torch.h>

#include "trainer/planes.h"

namespace tandem::trainer {
namespace {

class ReluPool : public torch::autograd::Function<ReluPool> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& images) {
    const torch::Tensor in = images.contiguous();
    const Plane plane{in.size(2), in.size(3)};
    const std::int64_t pooled = (plane.height / 2) * (plane.width / 2);
    torch::Tensor out =
        torch::empty({in.size(0), in.size(1), plane.height / 2, plane.width / 2}, in.options());
    torch::Tensor from = torch::empty(out.sizes(), torch::kUInt8);
    const float* source = in.data_ptr<float>();
    float* target = out.data_ptr<float>();
    std::uint8_t* index = from.data_ptr<std::uint8_t>();
    at::parallel_for(0, in.size(0) * in.size(1), 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        pool_plane(source + i * plane.size(), target + i * pooled, index + i * pooled, plane);
    });
    context->saved_data["height"] = plane.height;
    context->saved_data["width"] = plane.width;
    context->save_for_backward({from});
    return out;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    const torch::Tensor from = context->get_saved_variables()[0];
    const torch::Tensor grad = gradients[0].contiguous();
    const Plane plane{context->saved_data["height"].toInt(), context->saved_data["width"].toInt()};
    const std::vector<std::int64_t> sizes{grad.size(0), grad.size(1), plane.height, plane.width};
    const bool covered =
        plane.height % 2 == 0 && plane.width % 2 == 0;  // else a last row or column stays zero
    torch::Tensor out = covered ? torch::empty(sizes, grad.options()) : torch::zeros(sizes, grad.options());
    const std::int64_t pooled = (plane.height / 2) * (plane.width / 2);
    const float* source = grad.data_ptr<float>();
    const std::uint8_t* index = from.data_ptr<std::uint8_t>();
    float* target = out.data_ptr<float>();
    at::parallel_for(0, grad.size(0) * grad.size(1), 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        unpool_plane(source + i * pooled, index + i * pooled, target + i * plane.size(), plane);
    });
    return {out};
  }
};

}  // namespace

torch::Tensor relu_pool(const torch::Tensor& images) {
  return ReluPool::apply(images);
}

}  // namespace tandem::trainer
