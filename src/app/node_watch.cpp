#include "app/node_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace tandem::app {
namespace {

using place::Resource;

constexpr double kPoints = 0.05;
constexpr Seconds kNear{0.5e-3};  // a difference in latency that nobody notices

// Of the time of all its CPUs; none where one of them is not told of (it went offline).
std::optional<double> used_by_others(const measure::Look& look, const measure::OwnUse& own,
                                     const std::vector<int>& cpus) {
  if (look.since.value <= 0 || cpus.empty()) return std::nullopt;
  double share = 0;
  for (const int cpu : cpus) {
    const auto busy = look.busy.find(cpu);
    if (busy == look.busy.end()) return std::nullopt;
    const auto ours = own.cpu.find(cpu);
    const Seconds others = busy->second - (ours == own.cpu.end() ? Seconds{0} : ours->second);
    share += std::clamp(others / look.since, 0.0, 1.0);
  }
  return share / static_cast<double>(cpus.size());
}

bool moved(const std::optional<double>& before, const std::optional<double>& now) {
  if (!before || !now) return before.has_value() != now.has_value();
  return std::abs(*now - *before) >= kPoints;
}

}  // namespace

std::vector<NodeLoad> loads_of(const measure::Look& look, const measure::OwnUse& own,
                               std::span<const WatchedNode> nodes) {
  std::vector<NodeLoad> out(nodes.size());
  if (!look.observation) return out;
  const auto& in_use = look.observation->in_use;
  double claimed = 0;
  for (const auto& node : nodes) claimed += static_cast<double>(node.memory);
  const double all = static_cast<double>(look.facts.memory);
  const double others = in_use[Resource::memory] * all - static_cast<double>(own.memory);
  const double beyond = others - std::max(0.0, all - claimed);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    out[i].cpu = used_by_others(look, own, nodes[i].cpus);
    if (claimed > 0) out[i].memory = std::clamp(beyond / claimed, 0.0, 1.0);
    if (look.facts.bandwidth > 0) out[i].network = in_use[Resource::network];
    out[i].latency = look.observation->latency;
  }
  return out;
}

bool says_something_new(const NodeLoad& reported, const NodeLoad& now) {
  if (reported.latency.has_value() != now.latency.has_value()) return true;
  if (now.latency && std::abs((*now.latency - *reported.latency).value) >=
                         std::max(kNear.value, 0.5 * reported.latency->value))
    return true;
  return moved(reported.cpu, now.cpu) || moved(reported.memory, now.memory) ||
         moved(reported.network, now.network) || moved(reported.gpu, now.gpu) ||
         moved(reported.gpu_memory, now.gpu_memory);
}

NodeWatch::NodeWatch(std::vector<WatchedNode> nodes, measure::MonitorOptions options, measure::OwnLoad own)
    : nodes_(std::move(nodes)), monitor_(options), own_(std::move(own)), period_(options.period) {}

void NodeWatch::saw(const Event& event) {
  if (const auto* started = std::get_if<TaskStarted>(&event.body))
    own_.started(started->task, started->pid, event.at);
  else if (const auto* ended = std::get_if<TaskEnded>(&event.body))
    own_.ended(ended->task, event.at);
  else if (const auto* failed = std::get_if<TaskFailed>(&event.body))
    own_.ended(failed->task, event.at);
}

Seconds NodeWatch::until_next(Seconds now) const {
  return std::max(Seconds{0}, next_ - now);
}

std::vector<NodeLoad> NodeWatch::loads(Seconds now) {
  try {
    const auto look = monitor_.look(now);
    bandwidth_ = look.facts.bandwidth;
    return loads_of(look, own_.take(now), nodes_);
  } catch (const SystemError&) {  // /proc does not tell: then nothing is known of the nodes
    return std::vector<NodeLoad>(nodes_.size());
  }
}

std::vector<NodeObserved> NodeWatch::look(Seconds now) {
  std::vector<NodeObserved> out;
  if (now < next_) return out;
  const Seconds began = measure::thread_cpu_time();
  const auto seen = loads(now);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto node = static_cast<NodeId>(i);
    auto& before = reported_[node];  // nothing, before the first time
    if (before == seen[i] || !says_something_new(before, seen[i])) continue;
    out.push_back({node, before = seen[i]});
  }
  next_ = now + period_.looked(measure::thread_cpu_time() - began);
  return out;
}

std::vector<NodeJoined> WatchedWorld::nodes() {
  watch_.look(world_->now());  // the first: a share of time needs two
  auto out = world_->nodes();
  for (auto& node : out)
    if (node.traits.bandwidth == 0) node.traits.bandwidth = watch_.bandwidth();
  return out;
}

std::vector<Event> WatchedWorld::wait(Seconds at_most) {
  auto events = world_->wait(std::min(at_most, watch_.until_next(world_->now())));
  for (const auto& event : events) watch_.saw(event);
  const Seconds now = world_->now();
  for (auto& seen : watch_.look(now)) events.push_back({now, std::move(seen)});
  return events;
}

}  // namespace tandem::app
