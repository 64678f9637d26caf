#include "graph/operations.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace tandem::graph {
namespace {

template <class F>
double total(const Model& model, F&& of) {
  double sum = 0;
  for (const auto& operation : model.operations) sum += of(operation);
  return sum;
}

}  // namespace

const char* name(Kind kind) {
  switch (kind) {
    case Kind::input:
      return "input";
    case Kind::convolution:
      return "convolution";
    case Kind::dense:
      return "dense";
    case Kind::pooling:
      return "pooling";
    case Kind::normalisation:
      return "normalisation";
    case Kind::activation:
      return "activation";
    case Kind::concatenation:
      return "concatenation";
    case Kind::embedding:
      return "embedding";
    case Kind::recurrent:
      return "recurrent";
    case Kind::attention:
      return "attention";
    case Kind::loss:
      return "loss";
  }
  return "?";
}

double Model::parameters() const {
  return total(*this, [](const Operation& o) { return o.parameters; });
}
double Model::forward_flops() const {
  return total(*this, [](const Operation& o) { return o.forward_flops; });
}
double Model::backward_flops() const {
  return total(*this, [](const Operation& o) { return o.backward_flops; });
}
double Model::activations() const {
  return total(*this, [](const Operation& o) { return o.outputs; });
}

void check(const Model& model) {
  if (model.operations.empty()) throw UserError(fmt::format("model '{}' has no operations", model.name));
  std::set<std::string> names;
  for (std::size_t i = 0; i < model.operations.size(); ++i) {
    const auto& operation = model.operations[i];
    const std::string where =
        fmt::format("model '{}', operation '{}'", model.name, printable(operation.name, 80));
    if (!names.insert(operation.name).second) throw UserError(where + ": there are two of this name");
    for (const std::uint32_t input : operation.inputs)
      if (input >= i)
        throw UserError(where + ": an input of it comes after it, or is itself: that is a cycle");
    for (const double number :
         {operation.forward_flops, operation.backward_flops, operation.parameters, operation.outputs})
      if (!std::isfinite(number) || number < 0)
        throw UserError(where + ": a number of it is negative or not finite");
  }
}

}  // namespace tandem::graph
