// The simplest correct loop a person would write with libtorch: whole tensors, a permutation, index_select,
// torch::nn modules, torch::optim::SGD. It neither checks the loss nor keeps it.
#include <torch/torch.h>

#include <map>
#include <memory>

#include "bench/trainer/questions.h"

namespace {

struct LeNet5 : torch::nn::Module {
  LeNet5() {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("out", out);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    x = torch::relu(fc1(x.flatten(1)));
    x = torch::relu(fc2(x));
    return out(x);
  }

  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(1, 6, 5).padding(2)},
      conv2{torch::nn::Conv2dOptions(6, 16, 5)};
  torch::nn::Linear fc1{400, 120}, fc2{120, 84}, out{84, 10};
};

struct Training {
  LeNet5 model;
  torch::optim::SGD optimizer{
      model.parameters(),
      torch::optim::SGDOptions(tandem::bench::kLearningRate).momentum(tandem::bench::kMomentum)};
};

}  // namespace

int main() {
  namespace bench = tandem::bench;
  tandem::data::Dataset mnist = bench::first_images();
  const torch::Tensor images = torch::from_blob(mnist.train.values.data(), {bench::kImages, 1, 28, 28});
  const torch::Tensor labels = torch::from_blob(mnist.train.labels.data(), {bench::kImages}, torch::kInt64);
  std::map<std::int64_t, std::unique_ptr<Training>> trainings;
  bench::answer_questions([&](std::int64_t batch, int threads) {
    auto& training = trainings[batch];
    if (!training) training = std::make_unique<Training>();
    torch::set_num_threads(threads);
    const torch::Tensor order = torch::randperm(bench::kImages, torch::kInt64);
    for (std::int64_t begin = 0; begin < bench::kImages; begin += batch) {
      const torch::Tensor rows = order.slice(0, begin, begin + batch);
      training->optimizer.zero_grad();
      const torch::Tensor out = training->model.forward(images.index_select(0, rows));
      torch::cross_entropy_loss(out, labels.index_select(0, rows)).backward();
      training->optimizer.step();
    }
  });
}
