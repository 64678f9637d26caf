#include "place/infra/infra_stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tandem::place {
namespace {

template <class Range, class Test>
double share_that(const Range& past, Test test) {
  const auto matching = std::count_if(past.begin(), past.end(), test);
  return static_cast<double>(matching) / static_cast<double>(past.size());
}

std::optional<std::string> by_load(const Node& node, const StragglerOptions& options,
                                   std::span<const Resource> loads) {
  for (const Resource resource : loads) {
    const auto overloaded = [&](const Observation& o) { return o.in_use[resource] >= options.overloaded; };
    const double often = share_that(node.seen, overloaded);
    if (overloaded(node.seen.back()) && often > options.most)
      return fmt::format("its {} is {:.0f} % in use, and was overloaded in {:.0f} % of what was seen",
                         name(resource), 100 * node.seen.back().in_use[resource], 100 * often);
  }
  return std::nullopt;
}

std::optional<std::string> by_latency(const Node& node, Seconds median, const StragglerOptions& options) {
  const Seconds limit = std::max(options.far * median, options.slack);
  const auto is_far = [&](const Observation& o) { return o.latency > limit; };
  if (!is_far(node.seen.back()) || share_that(node.seen, is_far) <= options.most) return std::nullopt;
  return fmt::format("it is {} from the master, the median node {}", text(node.seen.back().latency),
                     text(median));
}

std::optional<std::string> by_work(const Node& node, const StragglerOptions& options) {
  if (node.slowness.empty() || node.slowness.size() < options.least_reports) return std::nullopt;
  const double often = share_that(node.slowness, [&](double times) { return times >= options.slow; });
  if (often <= options.most) return std::nullopt;
  return fmt::format("its steps were at least {} times as long as its colleagues' in {:.0f} % of its jobs",
                     options.slow, 100 * often);
}

}  // namespace

Seconds median_latency(const Catalogue& catalogue) {
  std::vector<Seconds> all;
  for (const auto& [host, node] : catalogue.nodes())
    if (!node.seen.empty()) all.push_back(node.seen.back().latency);
  if (all.empty()) return {0};
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

std::optional<std::string> straggling(const Node& node, Seconds median, const StragglerOptions& options,
                                      std::span<const Resource> loads) {
  if (!node.seen.empty()) {
    if (auto why = by_load(node, options, loads)) return why;
    if (auto why = by_latency(node, median, options)) return why;
  }
  return by_work(node, options);
}

}  // namespace tandem::place
