#include <string>

#include "graph/zoo_models.h"

namespace tandem::graph::models {
namespace {

struct Step {
  int maps = 1;
  Window kernel = 1;
  int stride = 1;
};

constexpr Window kRow{1, 7}, kColumn{7, 1};  // a 7x7 in two steps
constexpr Window kShortRow{1, 3}, kShortColumn{3, 1};

// Throughout both models, what strides in a branch is not padded, and what does not stride is.
Point branch(Layers& net, const Point& from, const std::vector<Step>& steps) {
  net.at(from);
  for (const Step& step : steps)
    conv_norm(net, step.maps,
              {.kernel = step.kernel, .stride = step.stride, .padding = step.stride == 1 ? kSame : kValid})
        .relu();
  return net.here();
}

Point averaged(Layers& net, const Point& from, int maps) {
  net.at(from).average_pool(3, 1, kSame);
  return branch(net, net.here(), {{maps, 1}});
}

// ---- GoogLeNet ----

struct Widths {
  const char* block;
  int one, three_before, three, five_before, five, pooled;
};

// The "five" branch has 3x3 kernels, as in torchvision (its issue 906): the paper has 5x5.
void inception(Layers& net, const Widths& widths) {
  net.within(widths.block);
  const Point from = net.here();
  const Point one = branch(net, from, {{widths.one, 1}});
  const Point three = branch(net, from, {{widths.three_before, 1}, {widths.three, 3}});
  const Point five = branch(net, from, {{widths.five_before, 1}, {widths.five, 3}});
  net.at(from).max_pool(3, 1, kSame);
  const Point pooled = branch(net, net.here(), {{widths.pooled, 1}});
  net.concat({one, three, five, pooled});
}

// ---- Inception v3: the five kinds of blocks, named as in torchvision ----

void block_a(Layers& net, const std::string& name, int pooled) {
  net.within(name);
  const Point from = net.here();
  const Point one = branch(net, from, {{64, 1}});
  const Point five = branch(net, from, {{48, 1}, {64, 5}});
  const Point twice = branch(net, from, {{64, 1}, {96, 3}, {96, 3}});
  net.concat({one, five, twice, averaged(net, from, pooled)});
}

void block_b(Layers& net, const std::string& name) {
  net.within(name);
  const Point from = net.here();
  const Point three = branch(net, from, {{384, 3, 2}});
  const Point twice = branch(net, from, {{64, 1}, {96, 3}, {96, 3, 2}});
  const Point pooled = net.at(from).max_pool(3, 2).here();
  net.concat({three, twice, pooled});
}

void block_c(Layers& net, const std::string& name, int maps) {
  net.within(name);
  const Point from = net.here();
  const Point one = branch(net, from, {{192, 1}});
  const Point seven = branch(net, from, {{maps, 1}, {maps, kRow}, {192, kColumn}});
  const Point twice =
      branch(net, from, {{maps, 1}, {maps, kColumn}, {maps, kRow}, {maps, kColumn}, {192, kRow}});
  net.concat({one, seven, twice, averaged(net, from, 192)});
}

void block_d(Layers& net, const std::string& name) {
  net.within(name);
  const Point from = net.here();
  const Point three = branch(net, from, {{192, 1}, {320, 3, 2}});
  const Point seven = branch(net, from, {{192, 1}, {192, kRow}, {192, kColumn}, {192, 3, 2}});
  const Point pooled = net.at(from).max_pool(3, 2).here();
  net.concat({three, seven, pooled});
}

void block_e(Layers& net, const std::string& name) {
  net.within(name);
  const Point from = net.here();
  const Point one = branch(net, from, {{320, 1}});
  const Point three = branch(net, from, {{384, 1}});
  const Point three_row = branch(net, three, {{384, kShortRow}});
  const Point three_column = branch(net, three, {{384, kShortColumn}});
  const Point twice = branch(net, from, {{448, 1}, {384, 3}});
  const Point twice_row = branch(net, twice, {{384, kShortRow}});
  const Point twice_column = branch(net, twice, {{384, kShortColumn}});
  net.concat({one, three_row, three_column, twice_row, twice_column, averaged(net, from, 192)});
}

void head(Layers& net) {
  net.within("head").global_pool().dropout().dense(kImageNetClasses).loss();
}

}  // namespace

void inception1(Layers& net) {
  net.input({3, 224, 224}).within("stem");
  conv_norm(net, 64, {.kernel = 7, .stride = 2}).relu().max_pool(3, 2, kSame);
  conv_norm(net, 64, {.kernel = 1}).relu();
  conv_norm(net, 192, {.kernel = 3}).relu().max_pool(3, 2, kSame);
  inception(net, {"3a", 64, 96, 128, 16, 32, 32});
  inception(net, {"3b", 128, 128, 192, 32, 96, 64});
  net.max_pool(3, 2, kSame);
  inception(net, {"4a", 192, 96, 208, 16, 48, 64});
  inception(net, {"4b", 160, 112, 224, 24, 64, 64});
  inception(net, {"4c", 128, 128, 256, 24, 64, 64});
  inception(net, {"4d", 112, 144, 288, 32, 64, 64});
  inception(net, {"4e", 256, 160, 320, 32, 128, 128});
  net.max_pool(2, 2);
  inception(net, {"5a", 256, 160, 320, 32, 128, 128});
  inception(net, {"5b", 384, 192, 384, 48, 128, 128});
  head(net);
}

void inception3(Layers& net) {
  net.input({3, 299, 299}).within("stem");
  conv_norm(net, 32, {.stride = 2, .padding = kValid}).relu();
  conv_norm(net, 32, {.padding = kValid}).relu();
  conv_norm(net, 64, {}).relu().max_pool(3, 2);
  conv_norm(net, 80, {.kernel = 1}).relu();
  conv_norm(net, 192, {.padding = kValid}).relu().max_pool(3, 2);
  block_a(net, "5b", 32);
  block_a(net, "5c", 64);
  block_a(net, "5d", 64);
  block_b(net, "6a");
  block_c(net, "6b", 128);
  block_c(net, "6c", 160);
  block_c(net, "6d", 160);
  block_c(net, "6e", 192);
  block_d(net, "7a");
  block_e(net, "7b");
  block_e(net, "7c");
  head(net);
}

}  // namespace tandem::graph::models
