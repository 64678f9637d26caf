#include <fmt/format.h>

#include <cstddef>

#include "graph/zoo_models.h"

namespace tandem::graph::models {
namespace {

// Two 3x3; the shortcut has no parameters (option A of He et al. 2015).
void basic_block(Layers& net, int maps, int stride) {
  const Point from = net.here();
  const Point shortcut = from.shape.channels == maps ? from : net.shortcut(maps, stride).here();
  net.at(from);
  conv_norm(net, maps, {.stride = stride}).relu();
  conv_norm(net, maps, {}).add(shortcut).relu();
}

// 1x1, 3x3, 1x1; a shortcut that changes the shape is a convolution (option B).
void bottleneck(Layers& net, int maps, int stride) {
  const Point from = net.here();
  const int wide = 4 * maps;
  const Point shortcut =
      from.shape.channels == wide ? from : conv_norm(net, wide, {.kernel = 1, .stride = stride}).here();
  net.at(from);
  conv_norm(net, maps, {.kernel = 1}).relu();
  conv_norm(net, maps, {.stride = stride}).relu();
  conv_norm(net, wide, {.kernel = 1}).add(shortcut).relu();
}

}  // namespace

void resnet_cifar(Layers& net, int blocks) {
  net.input({3, 32, 32}).within("stem");
  conv_norm(net, 16, {}).relu();
  int maps = 16;
  for (int stage = 1; stage <= 3; ++stage, maps *= 2)
    for (int block = 1; block <= blocks; ++block) {
      net.within(fmt::format("stage{}.block{}", stage, block));
      basic_block(net, maps, stage > 1 && block == 1 ? 2 : 1);
    }
  net.within("head").global_pool().dense(10).loss();
}

void resnet(Layers& net, const std::vector<int>& blocks) {
  net.input({3, 224, 224}).within("stem");
  conv_norm(net, 64, {.kernel = 7, .stride = 2}).relu().max_pool(3, 2, kSame);
  int maps = 64;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, maps *= 2)
    for (int block = 1; block <= blocks[stage]; ++block) {
      net.within(fmt::format("stage{}.block{}", stage + 1, block));
      bottleneck(net, maps, stage > 0 && block == 1 ? 2 : 1);
    }
  net.within("head").global_pool().dense(kImageNetClasses).loss();
}

}  // namespace tandem::graph::models
