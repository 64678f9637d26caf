// Builds a Model (operations.h) from the shapes of its layers and tracks the shape on the way.
//
//     Layers net("small");
//     net.input({3, 32, 32}).conv(16, {.kernel = 5}).relu().global_pool().dense(10).loss();
//     const Model model = net.finish();
//
// Every call reads the current point and becomes the new one. A branch goes back to a point kept with here();
// branches come together in add() or concat(). Shapes that do not fit are bugs of the caller: they assert.
// One owner; pure.
//
// What is counted, for one sample; a multiply and an add are two FLOPs:
// - forward: convolution, dense and LSTM layers two for each use of a weight, padding included and bias left
//   out; an LSTM 9 more a unit and step for its gates; attention its two products; pooling one an element of
//   each window; normalisation 5 an element (mean 1, variance 2, scale and shift 2); softmax and loss 3
//   (exponential, sum, division); addition and any other activation 1; embedding, concatenation and shortcut
//   none: they only move numbers.
// - backward: with parameters twice the forward, for the input's gradient and the parameters'; once where no
//   input needs a gradient, as in the first layer. Attention twice: both its factors need one. Pooling and
//   what is element-wise as forward, and nothing where no input needs a gradient. An embedding one an output,
//   adding up the gradients of repeated words.
// - parameters: those that are trained, so two a channel of a normalisation (scale and shift).
// - outputs: elements passed on. What an operation keeps inside (an LSTM's gates) is not counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/operations.h"

namespace tandem::graph {

// A picture; a vector has features as channels; a sequence has features as channels and steps as height.
struct Shape {
  int channels = 1, height = 1, width = 1;
  double elements() const { return 1.0 * channels * height * width; }
  bool operator==(const Shape&) const = default;
};

struct Window {
  constexpr Window(int side) : height(side), width(side) {}  // implicit: most are square
  constexpr Window(int rows, int columns) : height(rows), width(columns) {}
  int height, width;
};

// Zeros on each side; `same` instead: as many as make the output the input over the stride, rounded up.
struct Padding {
  int height = 0, width = 0;
  bool same = false;
};
inline constexpr Padding kSame{0, 0, true};
inline constexpr Padding kValid{0, 0, false};

struct Convolution {
  Window kernel = 3;
  int stride = 1;
  Padding padding = kSame;
  int groups = 1;  // as many as channels: depthwise
  bool bias = true;
};

// What an operation passes on, for branches.
struct Point {
  std::uint32_t operation = 0;
  Shape shape{};
};

class Layers {
 public:
  explicit Layers(std::string model_name);

  // Names of what follows start with "block."; within one, "conv", "conv2", "conv3"...
  Layers& within(const std::string& block);
  Point here() const { return here_; }
  Layers& at(const Point&);

  Layers& input(const Shape&);
  Layers& conv(int maps, const Convolution& = {});
  Layers& dense(int features, bool bias = true);  // of the channels, at every position; see flatten()
  Layers& flatten();                              // no operation: the same numbers as one vector
  Layers& max_pool(const Window&, int stride, const Padding& = kValid);
  Layers& average_pool(const Window&, int stride, const Padding& = kValid);
  Layers& global_pool();  // the average of each channel
  Layers& batch_norm();
  Layers& layer_norm();
  Layers& activation(const std::string& word);  // any element-wise one: "tanh"
  Layers& relu() { return activation("relu"); }
  Layers& dropout() { return activation("dropout"); }
  Layers& softmax();
  Layers& add(const Point& other);  // of the same shape
  // Every stride-th row and column, and zeros as the channels it lacks: for add() where the shape changes.
  Layers& shortcut(int channels, int stride);
  Layers& concat(const std::vector<Point>& branches);  // by channels
  Layers& embedding(int entries, int features);        // of each number of a one-channel sequence
  Layers& lstm(int hidden);                            // over all steps; one bias a gate
  // Over all steps: projections to queries, keys and values, scores, softmax, mixture, projection of that.
  Layers& attention(int heads);
  Layers& loss();  // softmax and cross-entropy

  Model finish();  // checked; the builder is empty afterwards

 private:
  Layers& append(Kind, const std::string& word, std::vector<std::uint32_t> inputs, Shape out, double forward,
                 double parameters = 0);
  Layers& project(const std::string& word, int features, bool bias);
  Layers& pool(const std::string& word, const Window&, int stride, const Padding&);
  Layers& norm(const std::string& word);
  std::vector<std::uint32_t> current() const { return {here_.operation}; }
  std::string unused_name(const std::string& word);

  Model model_;
  Point here_;
  std::string block_;
  std::map<std::string, int> used_;  // how often each name
  std::vector<bool> gradient_;       // of each operation: does what it passes on need one?
};

}  // namespace tandem::graph
