#include "sim/step/step_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tandem::sim {
namespace {

constexpr int kHalvings = 30;

// From the front, as much into each part as stays below `most`, leaving one operation for each part after it.
// Of each operation its part; empty when `parts` are too few.
std::vector<std::uint32_t> fill_stages(const std::vector<double>& seconds, std::size_t parts, double most) {
  std::vector<std::uint32_t> out;
  std::uint32_t part = 0;
  double filled = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const std::size_t parts_after = parts - 1 - part;
    const bool fresh = i > 0 && (filled + seconds[i] > most || seconds.size() - i <= parts_after);
    if (fresh) {
      if (parts_after == 0) return {};
      ++part;
      filled = 0;
    }
    filled += seconds[i];
    out.push_back(part);
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> partition(const graph::Model& model, const std::vector<double>& seconds,
                                     std::size_t parts) {
  if (parts > seconds.size())
    throw UserError(
        fmt::format("model '{}' has {} operations and cannot be cut into {} parts: use fewer workers",
                    printable(model.name, 80), seconds.size(), parts));
  double high = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  double low = *std::max_element(seconds.begin(), seconds.end());
  std::vector<std::uint32_t> best = fill_stages(seconds, parts, low);
  if (!best.empty()) return best;
  high *= 1 + 1e-12;  // adding up in another order must not fail by rounding
  best = fill_stages(seconds, parts, high);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    auto found = fill_stages(seconds, parts, middle);
    if (found.empty()) {
      low = middle;
    } else {
      high = middle;
      best = std::move(found);
    }
  }
  return best;
}

std::vector<Crossing> crossings(const graph::Model& model, const std::vector<std::uint32_t>& part) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // operation, part that reads it
  for (std::size_t i = 0; i < model.operations.size(); ++i)
    for (const std::uint32_t input : model.operations[i].inputs)
      if (part[input] != part[i]) seen.emplace(input, part[i]);
  std::vector<Crossing> out;
  for (const auto& [operation, to] : seen)
    out.push_back(
        {operation, part[operation], to, graph::kBytesAnElement * model.operations[operation].outputs});
  return out;
}

}  // namespace tandem::sim
