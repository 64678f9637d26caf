#include "graph/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace tandem::graph {
namespace {

constexpr double kNormFlops = 5;
constexpr double kSoftmaxFlops = 3;
constexpr double kGateFlops = 9;  // four gates' functions 4, new cell 3, its tanh 1, output 1

int positions(int size, int window, int stride, int padding, bool same) {
  assert(stride > 0 && window > 0);
  if (same) return (size + stride - 1) / stride;
  const int room = size + 2 * padding - window;
  assert(room >= 0);
  return room / stride + 1;
}

Shape swept(const Shape& in, int channels, const Window& window, int stride, const Padding& padding) {
  return {channels, positions(in.height, window.height, stride, padding.height, padding.same),
          positions(in.width, window.width, stride, padding.width, padding.same)};
}

double backward_flops(const Operation& operation, bool input_needs_gradient) {
  if (operation.kind == Kind::embedding) return operation.outputs;
  if (operation.parameters > 0) return operation.forward_flops * (input_needs_gradient ? 2 : 1);
  if (!input_needs_gradient) return 0;
  return operation.forward_flops * (operation.kind == Kind::attention ? 2 : 1);
}

}  // namespace

Layers::Layers(std::string model_name) {
  model_.name = std::move(model_name);
}

Layers& Layers::within(const std::string& block) {
  block_ = block;
  return *this;
}

Layers& Layers::at(const Point& point) {
  here_ = point;
  return *this;
}

Layers& Layers::input(const Shape& shape) {
  return append(Kind::input, "input", {}, shape, 0);
}

Layers& Layers::conv(int maps, const Convolution& how) {
  const Shape in = here_.shape;
  assert(maps > 0 && how.groups > 0 && in.channels % how.groups == 0 && maps % how.groups == 0);
  const Shape out = swept(in, maps, how.kernel, how.stride, how.padding);
  const double weights_a_map = 1.0 * how.kernel.height * how.kernel.width * (in.channels / how.groups);
  return append(Kind::convolution, "conv", current(), out, 2 * weights_a_map * out.elements(),
                maps * (weights_a_map + (how.bias ? 1 : 0)));
}

Layers& Layers::dense(int features, bool bias) {
  return project("dense", features, bias);
}

Layers& Layers::project(const std::string& word, int features, bool bias) {
  const Shape in = here_.shape;
  assert(features > 0);
  const Shape out{features, in.height, in.width};
  return append(Kind::dense, word, current(), out, 2.0 * in.channels * out.elements(),
                features * (1.0 * in.channels + (bias ? 1 : 0)));
}

Layers& Layers::flatten() {
  const Shape in = here_.shape;
  here_.shape = {in.channels * in.height * in.width, 1, 1};
  return *this;
}

Layers& Layers::max_pool(const Window& window, int stride, const Padding& padding) {
  return pool("max_pool", window, stride, padding);
}

Layers& Layers::average_pool(const Window& window, int stride, const Padding& padding) {
  return pool("average_pool", window, stride, padding);
}

Layers& Layers::global_pool() {
  return pool("global_pool", {here_.shape.height, here_.shape.width}, 1, kValid);
}

Layers& Layers::pool(const std::string& word, const Window& window, int stride, const Padding& padding) {
  const Shape out = swept(here_.shape, here_.shape.channels, window, stride, padding);
  return append(Kind::pooling, word, current(), out, out.elements() * window.height * window.width);
}

Layers& Layers::batch_norm() {
  return norm("batch_norm");
}

Layers& Layers::layer_norm() {
  return norm("layer_norm");
}

Layers& Layers::norm(const std::string& word) {
  const Shape shape = here_.shape;
  return append(Kind::normalisation, word, current(), shape, kNormFlops * shape.elements(),
                2.0 * shape.channels);
}

Layers& Layers::activation(const std::string& word) {
  return append(Kind::activation, word, current(), here_.shape, here_.shape.elements());
}

Layers& Layers::softmax() {
  return append(Kind::activation, "softmax", current(), here_.shape, kSoftmaxFlops * here_.shape.elements());
}

Layers& Layers::add(const Point& other) {
  assert(other.shape == here_.shape);
  return append(Kind::activation, "add", {here_.operation, other.operation}, here_.shape,
                here_.shape.elements());
}

Layers& Layers::shortcut(int channels, int stride) {
  assert(channels >= here_.shape.channels);
  return append(Kind::pooling, "shortcut", current(), swept(here_.shape, channels, 1, stride, kSame), 0);
}

Layers& Layers::concat(const std::vector<Point>& branches) {
  assert(!branches.empty());
  Shape out = branches.front().shape;
  out.channels = 0;
  std::vector<std::uint32_t> inputs;
  for (const Point& branch : branches) {
    assert(branch.shape.height == out.height && branch.shape.width == out.width);
    out.channels += branch.shape.channels;
    inputs.push_back(branch.operation);
  }
  return append(Kind::concatenation, "concat", std::move(inputs), out, 0);
}

Layers& Layers::embedding(int entries, int features) {
  assert(here_.shape.channels == 1 && entries > 0 && features > 0);
  const Shape out{features, here_.shape.height, here_.shape.width};
  return append(Kind::embedding, "embedding", current(), out, 0, 1.0 * entries * features);
}

Layers& Layers::lstm(int hidden) {
  const Shape in = here_.shape;
  assert(in.width == 1 && hidden > 0);
  const double weights = 4.0 * hidden * (in.channels + hidden);
  return append(Kind::recurrent, "lstm", current(), {hidden, in.height, 1},
                in.height * (2 * weights + kGateFlops * hidden), weights + 4.0 * hidden);
}

Layers& Layers::attention(int heads) {
  const Point from = here_;
  const int features = from.shape.channels, steps = from.shape.height;
  assert(from.shape.width == 1 && heads > 0 && features % heads == 0);
  const double product = 2.0 * features * steps * steps;  // over all heads
  const Point queries = project("query", features, true).here();
  const Point keys = at(from).project("key", features, true).here();
  const Point values = at(from).project("value", features, true).here();
  append(Kind::attention, "scores", {queries.operation, keys.operation}, {heads, steps, steps}, product);
  softmax();
  append(Kind::attention, "mixture", {here_.operation, values.operation}, from.shape, product);
  return project("projection", features, true);
}

Layers& Layers::loss() {
  return append(Kind::loss, "loss", current(), {1, 1, 1}, kSoftmaxFlops * here_.shape.elements());
}

Model Layers::finish() {
  check(model_);
  Model done = std::move(model_);
  *this = Layers("");
  return done;
}

Layers& Layers::append(Kind kind, const std::string& word, std::vector<std::uint32_t> inputs, Shape out,
                       double forward, double parameters) {
  assert(out.channels > 0 && out.height > 0 && out.width > 0);
  const bool input_needs_gradient =
      std::any_of(inputs.begin(), inputs.end(), [this](std::uint32_t input) -> bool {
        assert(input < gradient_.size());
        return gradient_[input];
      });
  Operation operation;
  operation.name = unused_name(word);
  operation.kind = kind;
  operation.inputs = std::move(inputs);
  operation.forward_flops = forward;
  operation.parameters = parameters;
  operation.outputs = out.elements();
  operation.backward_flops = backward_flops(operation, input_needs_gradient);
  here_ = {static_cast<std::uint32_t>(model_.operations.size()), out};
  gradient_.push_back(parameters > 0 || input_needs_gradient);
  model_.operations.push_back(std::move(operation));
  return *this;
}

std::string Layers::unused_name(const std::string& word) {
  const std::string stem = block_.empty() ? word : block_ + "." + word;
  const int count = ++used_[stem];
  return count == 1 ? stem : fmt::format("{}{}", stem, count);
}

}  // namespace tandem::graph
