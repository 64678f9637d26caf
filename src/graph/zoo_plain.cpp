#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "graph/zoo_models.h"

namespace tandem::graph::models {

void lenet5(Layers& net) {
  net.input({1, 28, 28});
  net.conv(6, {.kernel = 5}).activation("tanh").average_pool(2, 2);
  net.conv(16, {.kernel = 5, .padding = kValid}).activation("tanh").average_pool(2, 2);
  net.flatten().dense(120).activation("tanh").dense(84).activation("tanh").dense(10).loss();
}

void alexnet(Layers& net) {
  net.input({3, 224, 224});
  net.conv(64, {.kernel = 11, .stride = 4, .padding = {2, 2}}).relu().max_pool(3, 2);
  net.conv(192, {.kernel = 5}).relu().max_pool(3, 2);
  net.conv(384).relu().conv(256).relu().conv(256).relu().max_pool(3, 2);
  net.within("head").flatten();
  net.dropout().dense(4096).relu();
  net.dropout().dense(4096).relu();
  net.dense(kImageNetClasses).loss();
}

void vgg(Layers& net, const std::vector<int>& convolutions) {
  net.input({3, 224, 224});
  int maps = 64;
  for (std::size_t block = 0; block < convolutions.size(); ++block) {
    net.within(fmt::format("block{}", block + 1));
    for (int i = 0; i < convolutions[block]; ++i) net.conv(maps).relu();
    net.max_pool(2, 2);
    if (maps < 512) maps *= 2;
  }
  net.within("head").flatten();
  net.dense(4096).relu().dropout();
  net.dense(4096).relu().dropout();
  net.dense(kImageNetClasses).loss();
}

void mobilenet(Layers& net) {
  struct Pair {
    int maps, stride;
  };
  constexpr std::array kPairs{Pair{64, 1},  Pair{128, 2},  Pair{128, 1}, Pair{256, 2}, Pair{256, 1},
                              Pair{512, 2}, Pair{512, 1},  Pair{512, 1}, Pair{512, 1}, Pair{512, 1},
                              Pair{512, 1}, Pair{1024, 2}, Pair{1024, 1}};
  net.input({3, 224, 224});
  conv_norm(net, 32, {.stride = 2}).relu();
  for (std::size_t i = 0; i < kPairs.size(); ++i) {
    net.within(fmt::format("pair{}", i + 1));
    const int channels = net.here().shape.channels;
    conv_norm(net, channels, {.stride = kPairs[i].stride, .groups = channels}).relu();
    conv_norm(net, kPairs[i].maps, {.kernel = 1}).relu();
  }
  net.within("head").global_pool().dropout().dense(kImageNetClasses).loss();
}

}  // namespace tandem::graph::models
