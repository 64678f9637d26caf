#include "sim/step/step_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace tandem::sim {
namespace {

constexpr double kCopiesOfParameters = 3;

}  // namespace

Cost cost(const spec::DeviceType& device, double clock_share, double flops, double bytes) {
  const double speed = device.peak_flops() * device.efficiency * clock_share;
  assert(speed > 0 && flops >= 0 && bytes >= 0);
  const double arithmetic = flops / speed;
  const double moving = device.memory_bandwidth > 0 ? bytes / device.memory_bandwidth : 0;
  return {device.overhead + std::max(arithmetic, moving), std::max(moving - arithmetic, 0.0)};
}

Cost pass_cost(const spec::DeviceType& device, double clock_share, const graph::Model& model,
               std::uint32_t operation, bool backward, std::int64_t samples) {
  const graph::Operation& op = model.operations[operation];
  if (op.kind == graph::Kind::input) return {};
  const auto many = static_cast<double>(samples);
  double flowing = op.outputs;
  for (const std::uint32_t input : op.inputs) flowing += model.operations[input].outputs;
  const double elements = backward ? 3 * op.parameters + 2 * many * flowing : op.parameters + many * flowing;
  const double flops = many * (backward ? op.backward_flops : op.forward_flops);
  return cost(device, clock_share, flops, graph::kBytesAnElement * elements);
}

Cost update_cost(const spec::DeviceType& device, double clock_share, double gradient_bytes,
                 std::size_t copies) {
  const auto added = static_cast<double>(copies);
  const double elements = gradient_bytes / graph::kBytesAnElement;
  return cost(device, clock_share, elements * (added + 1), gradient_bytes * (added + 2));
}

double memory_needed(const graph::Model& model, const std::vector<std::uint32_t>& operations,
                     std::int64_t samples) {
  double elements = 0;
  for (const std::uint32_t index : operations) {
    const graph::Operation& op = model.operations[index];
    elements += kCopiesOfParameters * op.parameters;
    if (op.kind != graph::Kind::activation) elements += static_cast<double>(samples) * op.outputs;
  }
  return graph::kBytesAnElement * elements;
}

void check_memory(const spec::DeviceType& device, const graph::Model& model,
                  const std::vector<std::uint32_t>& operations, std::int64_t samples) {
  const double needed = memory_needed(model, operations, samples);
  if (device.memory <= 0 || needed <= static_cast<double>(device.memory)) return;
  const double shown = std::min(needed, 9e18);
  throw UserError(
      fmt::format("model '{}' with {} samples at a time needs {} on a '{}', which has {}: use a smaller "
                  "batch, more workers, or a device with more memory",
                  printable(model.name, 80), samples, text_bytes(static_cast<Bytes>(shown)),
                  printable(device.name, 80), text_bytes(device.memory)));
}

}  // namespace tandem::sim
