#include "place/infra/infra_nodes.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tandem::place {
namespace {

bool is_share(double number) {
  return number >= 0 && number <= 1;  // false of a NaN
}

template <class Value>
void keep(std::deque<Value>& past, const Value& latest, std::size_t window) {
  past.push_back(latest);
  while (past.size() > window) past.pop_front();
}

}  // namespace

const char* name(Resource resource) {
  switch (resource) {
    case Resource::cpu:
      return "CPU";
    case Resource::memory:
      return "memory";
    case Resource::network:
      return "network";
    case Resource::gpu:
      return "GPU";
    case Resource::gpu_memory:
      return "GPU memory";
  }
  return "?";
}

double amount(const NodeFacts& facts, Resource resource) {
  switch (resource) {
    case Resource::cpu:
      return facts.cores * facts.clock;
    case Resource::memory:
      return static_cast<double>(facts.memory);
    case Resource::network:
      return facts.bandwidth;
    case Resource::gpu:
      return facts.gpus;
    case Resource::gpu_memory:
      return facts.gpus > 0 ? static_cast<double>(facts.gpu_memory) : 0;
  }
  return 0;
}

Found Catalogue::found(const std::string& host, const NodeFacts& facts) {
  const auto [at, joined] = nodes_.try_emplace(host, Node{facts});
  if (joined) return Found::joined;
  Node& known = at->second;
  if (known.facts == facts) return Found::same;
  known = Node{facts, known.entry + 1};
  return Found::changed;
}

Node& Catalogue::node(const std::string& host) {
  const auto found = nodes_.find(host);
  if (found == nodes_.end())
    throw SystemError(
        fmt::format("node '{}' is not in the catalogue: say what its hardware is before what it does",
                    printable(host, 80)));
  return found->second;
}

void Catalogue::observed(const std::string& host, const Observation& observation) {
  Node& known = node(host);
  for (const Resource resource : kAllResources)
    if (!is_share(observation.in_use[resource]))
      throw SystemError(
          fmt::format("node '{}': {} of its {} is said to be in use; a share is 0 to 1: look at what "
                      "watches it",
                      printable(host, 80), observation.in_use[resource], name(resource)));
  if (!(observation.latency.value >= 0) || !std::isfinite(observation.latency.value))
    throw SystemError(fmt::format("node '{}': its latency is said to be {} s: look at what watches it",
                                  printable(host, 80), observation.latency.value));
  keep(known.seen, observation, window_);
}

void Catalogue::worked(const std::string& host, double slowness) {
  Node& known = node(host);
  if (!(slowness > 0) || !std::isfinite(slowness))
    throw SystemError(
        fmt::format("node '{}': its steps are said to take {} times the usual: look at who reports it",
                    printable(host, 80), slowness));
  keep(known.slowness, slowness, window_);
}

}  // namespace tandem::place
