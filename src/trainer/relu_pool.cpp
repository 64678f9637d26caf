#include "trainer/relu_pool.h"

#include <torch/utils.h>

#include "trainer/planes.h"

namespace tandem::trainer {
namespace {

// Planes a thread takes at least: less work than this costs more to hand out than to do.
std::int64_t fewest(const Plane& plane) {
  return 65536 / std::max<std::int64_t>(1, plane.size()) + 1;
}

class ReluPool : public torch::autograd::Function<ReluPool> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& images) {
    const torch::Tensor in = images.contiguous();
    const Plane plane{in.size(2), in.size(3)};
    const std::int64_t pooled = (plane.height / 2) * (plane.width / 2);
    torch::Tensor out =
        torch::empty({in.size(0), in.size(1), plane.height / 2, plane.width / 2}, in.options());
    const float* source = in.data_ptr<float>();
    float* target = out.data_ptr<float>();
    at::parallel_for(0, in.size(0) * in.size(1), fewest(plane), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        pool_plane(source + i * plane.size(), target + i * pooled, plane);
    });
    context->save_for_backward({in, out});
    return out;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &in = saved[0], &out = saved[1];
    const torch::Tensor gradient = gradients[0].contiguous();
    const Plane plane{in.size(2), in.size(3)};
    const bool covered =
        plane.height % 2 == 0 && plane.width % 2 == 0;  // else a last row or column stays zero
    torch::Tensor in_gradient = covered ? torch::empty_like(in) : torch::zeros_like(in);
    const std::int64_t pooled = (plane.height / 2) * (plane.width / 2);
    const float *pixels = in.data_ptr<float>(), *largest = out.data_ptr<float>(),
                *source = gradient.data_ptr<float>();
    float* target = in_gradient.data_ptr<float>();
    at::parallel_for(0, in.size(0) * in.size(1), fewest(plane), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        unpool_plane(pixels + i * plane.size(), largest + i * pooled, source + i * pooled,
                     target + i * plane.size(), plane);
    });
    return {in_gradient};
  }
};

}  // namespace

torch::Tensor relu_pool(const torch::Tensor& images) {
  return ReluPool::apply(images);
}

}  // namespace tandem::trainer
