// A deep-learning model as a graph of operations: what each computes, keeps and passes on, for one sample.
//
// Forward order is the order of the list: an operation's inputs come before it. The backward pass is implied:
// every operation with parameters or with an input that needs a gradient runs once more, later operations
// first, and costs `backward_flops`; its parameters' gradients are ready when that is done. Numbers come from
// layer shapes (zoo.h), never from totals. Plain values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::graph {

enum class Kind {
  input,
  convolution,
  dense,
  pooling,
  normalisation,  // batch or layer normalisation
  activation,     // element-wise: ReLU, softmax, dropout, addition
  concatenation,
  embedding,
  recurrent,  // one LSTM layer over all steps
  attention,  // the products of queries, keys and values; the projections around it are dense
  loss,
};
const char* name(Kind);

struct Operation {
  std::string name;
  Kind kind = Kind::input;
  std::vector<std::uint32_t> inputs;  // indices of operations before it
  double forward_flops = 0;           // a sample; a multiply and an add are two
  double backward_flops = 0;          // a sample: for the inputs' and the parameters' gradients together
  double parameters = 0;              // that are trained
  double outputs = 0;                 // elements a sample it passes on
  bool operator==(const Operation&) const = default;
};

struct Model {
  std::string name;
  std::vector<Operation> operations;

  double parameters() const;
  double forward_flops() const;   // a sample
  double backward_flops() const;  // a sample
  double activations() const;     // elements a sample, of all operations
};

// Throws UserError: an input that is not before it, a negative or not finite number, a name used twice,
// nothing in it.
void check(const Model&);

inline constexpr double kBytesAnElement = 4;  // 32-bit floating point

}  // namespace tandem::graph
