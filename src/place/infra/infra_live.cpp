#include "place/infra/infra_live.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tandem::place {
namespace {

constexpr Seconds kLookBackEvery{10};
constexpr int kLooksBack = 30;

NodeFacts facts_of(const NodeView& node) {
  const bool network_known = !node.observed.empty() && node.observed.back().load.network;
  return {.cores = node.largest.cores,
          .clock = node.traits.speed_factor,  // in any unit: clocks are only compared
          .memory = node.largest.memory,
          .gpus = node.largest.gpus,
          .bandwidth = network_known ? node.traits.bandwidth : 0};
}

double share_of(double part, double all) {
  return all > 0 ? std::clamp(part / all, 0.0, 1.0) : 0;
}

// What held at each moment looked back at, the oldest first; what is older than all of them is not asked.
void look_back(Catalogue& catalogue, const NodeView& node, Seconds now) {
  if (node.observed.empty()) return;
  const int looks = node.observed.size() == 1 ? 1 : kLooksBack;  // one load is the same at all of them
  auto held = node.observed.begin();
  for (int back = looks - 1; back >= 0; --back) {
    const Seconds at = now - static_cast<double>(back) * kLookBackEvery;
    while (held + 1 != node.observed.end() && (held + 1)->at <= at) ++held;
    if (held->at <= at)
      catalogue.observed(node.name, {at, shares_of(held->load), held->load.latency.value_or(Seconds{0})});
  }
}

// Of what only one task can have: cores, memory, GPUs.
Shares held_of(const Cluster& cluster, NodeId node) {
  const auto [type, index] = cluster.place[static_cast<std::size_t>(node)];
  const Amount all = cluster.types[type].node, free = cluster.pools[type].free_on(index);
  Shares out;
  out[Resource::cpu] =
      share_of(static_cast<double>(all.milli_cores - free.milli_cores), static_cast<double>(all.milli_cores));
  out[Resource::memory] =
      share_of(static_cast<double>(all.memory - free.memory), static_cast<double>(all.memory));
  out[Resource::gpu] = share_of(all.gpus - free.gpus, all.gpus);
  return out;
}

}  // namespace

Shares shares_of(const NodeLoad& load) {
  return {{load.cpu.value_or(0), load.memory.value_or(0), load.network.value_or(0), load.gpu.value_or(0),
           load.gpu_memory.value_or(0)}};
}

Catalogue catalogue_of(const View& view, const Cluster& cluster) {
  Catalogue out(kLooksBack);
  std::vector<double> promised(view.nodes.size(), 0.0);  // bandwidth
  for (const TaskId id : view.holding) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    promised[static_cast<std::size_t>(task.node)] += demands_of(view, task).bandwidth;
  }
  for (const auto& node : view.nodes) {
    if (node.capacity.cores == 0) continue;
    out.found(node.name, facts_of(node));
    look_back(out, node, view.now);
    Shares held = held_of(cluster, node.id);
    const double seen = node.observed.empty() ? 0 : node.observed.back().load.network.value_or(0);
    held[Resource::network] =
        std::max(0.0, share_of(promised[static_cast<std::size_t>(node.id)], node.traits.bandwidth) - seen);
    out.holds(node.name, held);
  }
  return out;
}

void put_there(Catalogue& catalogue, const Cluster& cluster, const NodeView& node, const Demands& demands) {
  Shares held = held_of(cluster, node.id);
  held[Resource::network] = catalogue.nodes().at(node.name).held[Resource::network] +
                            share_of(demands.bandwidth, node.traits.bandwidth);
  catalogue.holds(node.name, held);
}

Demands demands_of(const View& view, const TaskView& task) {
  const auto& place = view.jobs[static_cast<std::size_t>(task.job)].base().place;
  const Resources wanted = wanted_of(task);
  return {.cores = static_cast<double>(wanted.cores),
          .memory = wanted.memory,
          .bandwidth = place.bandwidth,
          .gpus = wanted.gpus,
          .job_class = place.family};
}

void ClassMemory::saw(const View& view, const Event& event) {
  if (const auto* started = std::get_if<TaskStarted>(&event.body)) {
    const auto& task = view.tasks[static_cast<std::size_t>(started->task)];
    const auto& seen = view.nodes[static_cast<std::size_t>(task.node)].observed;
    if (!seen.empty()) at_start_[started->task] = shares_of(seen.back().load);
  } else if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    at_start_.erase(failed->task);
  } else if (const auto* ended = std::get_if<TaskEnded>(&event.body)) {
    const auto found = at_start_.find(ended->task);
    if (found == at_start_.end()) return;
    learn(view, view.tasks[static_cast<std::size_t>(ended->task)], found->second);
    at_start_.erase(found);
  }
}

void ClassMemory::learn(const View& view, const TaskView& task, const Shares& in_use) {
  const auto& job = view.jobs[static_cast<std::size_t>(task.job)];
  const auto& place = job.base().place;
  const double seconds = (task.ended_at - task.started_at).value;
  if (place.family.empty() || !ran_whole(job, task) || seconds <= 0) return;
  const double speed_factor = view.nodes[static_cast<std::size_t>(task.node)].traits.speed_factor;
  const double work = place.work > 0 ? place.work : 1;
  classes_.ran(place.family, in_use, seconds * speed_factor * task.granted.cores / work);
}

nlohmann::json ClassMemory::to_json() const {
  auto starts = nlohmann::json::array();
  for (const auto& [task, shares] : at_start_) starts.push_back({task, shares.of});
  return {{"classes", classes_.to_json()}, {"at_start", std::move(starts)}};
}

void ClassMemory::restore(const nlohmann::json& saved) {
  classes_.restore(saved.at("classes"));
  at_start_.clear();
  for (const auto& row : saved.at("at_start")) at_start_[row.at(0)].of = row.at(1);
}

}  // namespace tandem::place
