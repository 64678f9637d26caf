#include "sim/world/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/error.h"

namespace tandem::sim {

Failures Failures::drawn(Seconds between, Seconds repair, std::uint64_t seed) {
  for (const Seconds mean : {between, repair})
    if (!(mean.value > 0) || !std::isfinite(mean.value))
      throw UserError(fmt::format(
          "failures: mean times of {} between and {} to repair; both must be above 0 (none: leave them out)",
          text(between), text(repair)));
  Failures out;
  out.between_ = between;
  out.repair_ = repair;
  out.seed_ = seed;
  return out;
}

Failures Failures::listed(std::vector<Outage> outages) {
  Failures out;
  std::stable_sort(outages.begin(), outages.end(),
                   [](const Outage& a, const Outage& b) { return a.from > b.from; });
  for (const Outage& outage : outages) {
    if (outage.node < 0 || !(outage.from.value >= 0) || !(outage.until > outage.from))
      throw UserError(fmt::format("outage of node {} from {} until {}: it must end after it begins",
                                  outage.node, text(outage.from), text(outage.until)));
    const auto node = static_cast<std::size_t>(outage.node);
    if (node >= out.listed_.size()) out.listed_.resize(node + 1);
    auto& of_node = out.listed_[node];
    if (!of_node.empty() && of_node.back().from < outage.until)
      throw UserError(fmt::format("outages of node {} overlap: down from {} until {}, and again from {}",
                                  outage.node, text(outage.from), text(outage.until),
                                  text(of_node.back().from)));
    of_node.push_back(outage);
  }
  return out;
}

std::optional<Outage> Failures::next(NodeId id, Seconds from) {
  assert(id >= 0);
  const auto node = static_cast<std::size_t>(id);
  if (endless()) {
    while (streams_.size() <= node) streams_.emplace_back(seed_, static_cast<std::uint64_t>(streams_.size()));
    Random& random = streams_[node];
    const Seconds fails = from + Seconds{random.exponential(between_.value)};
    return Outage{id, fails, fails + Seconds{random.exponential(repair_.value)}};
  }
  if (node >= listed_.size()) return std::nullopt;
  auto& of_node = listed_[node];
  while (!of_node.empty()) {
    Outage outage = of_node.back();
    of_node.pop_back();
    outage.from = std::max(outage.from, from);
    if (outage.until > outage.from) return outage;
  }
  return std::nullopt;
}

}  // namespace tandem::sim
