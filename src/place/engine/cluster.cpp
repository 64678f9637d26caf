#include "place/engine/cluster.h"

#include <algorithm>

namespace tandem::place {
namespace {

MachineType type_of(const NodeView& node) {
  MachineType out;
  out.name = node.type.empty() ? node.name : node.type;
  out.architecture = node.traits.architecture;
  out.accelerator = node.traits.accelerator;
  out.labels = node.traits.labels;
  out.labels.push_back(out.name);  // so that a job can ask for the type itself
  out.node = amount_of(node.largest);
  out.count = 0;
  return out;
}

}  // namespace

bool ran_whole(const JobView& job, const TaskView& task) {
  // One that was evicted may have been asked for again by now.
  return task.attempt == 1 && task.state == TaskState::ended && !task.evicted && !job.cancelled &&
         job.as<spec::TrainJob>() && task.drop == 0 && task.reported() >= job.base().epochs;
}

Amount amount_of(const Resources& resources) {
  return {resources.cores * std::int64_t{1000}, resources.memory, resources.gpus, 0};
}

Amount held_by(const TaskView& task) {
  return {task.cores_held * std::int64_t{1000}, task.memory_held,
          task.granted.gpu_memory == 0 ? task.gpus_held : 0, 0};
}

// On a cluster GPUs are whole: nobody shares one yet (gpu_memory).
Resources wanted_of(const TaskView& task) {
  Resources wanted = task.wanted;
  if (!task.options.empty())
    wanted = std::min_element(task.options.begin(), task.options.end(), [](const Option& a, const Option& b) {
               return a.resources.cores * a.seconds < b.resources.cores * b.seconds;
             })->resources;
  wanted.gpu_memory = 0;
  return wanted;
}

// Of GPUs that it would share one is enough: how many places they have is seen when it is put there.
Resources least_of(const TaskView& task) {
  if (task.options.empty()) return task.wanted;
  Resources out = task.options.front().resources;
  for (const auto& [resources, seconds] : task.options) {
    out.cores = std::min(out.cores, resources.cores);
    out.memory = std::min(out.memory, resources.memory);
    out.gpus = std::min(out.gpus, resources.gpu_memory > 0 ? std::min(resources.gpus, 1) : resources.gpus);
  }
  return out;
}

TaskRequirements requirements_of(const View& view, const TaskView& task, const Resources& asked) {
  const auto& place = view.jobs[static_cast<std::size_t>(task.job)].base().place;
  return {amount_of(asked),  task.nodes_wanted, place.architecture,
          place.accelerator, place.labels,      task.nodes_wanted > 1};
}

TaskRequirements requirements_of(const View& view, const TaskView& task) {
  return requirements_of(view, task, wanted_of(task));
}

bool Cluster::is_still(const NodeView& node) const {
  const auto type = place[static_cast<std::size_t>(node.id)].type;
  return kinds[type].type == node.type && kinds[type].largest == node.largest && traits[type] == node.traits;
}

bool Cluster::add(const NodeView& node) {
  place.push_back({0, 0});
  auto& [type, index] = place.back();
  while (type < types.size() && !is_still(node)) ++type;
  const bool fresh = type == types.size();
  if (fresh) {
    types.push_back(tandem::place::type_of(node));
    traits.push_back(node.traits);
    kinds.push_back({node.type, node.largest});
    nodes.emplace_back();
    pools.emplace_back(types.back().node, 1);
  } else {
    pools[type].add_node();
  }
  index = static_cast<std::uint32_t>(nodes[type].size());
  nodes[type].push_back(node.id);
  ++types[type].count;
  return fresh;
}

Cluster empty_cluster_of(const View& view) {
  Cluster out;
  for (const auto& node : view.nodes) out.add(node);
  return out;
}

Cluster cluster_of(const View& view) {
  Cluster out = empty_cluster_of(view);
  for (const TaskId id : view.holding) out.take_again(view.tasks[static_cast<std::size_t>(id)]);
  for (const auto& node : view.nodes) {
    const auto [type, index] = out.place[static_cast<std::size_t>(node.id)];
    if (node.capacity.cores == 0) out.pools[type].set_up(index, false);
  }
  return out;
}

void Cluster::give_back(const TaskView& task) {
  const Amount part = held_by(task);
  if (part == Amount{}) return;
  task.each_node([&](NodeId node) {
    const auto [type, index] = place[static_cast<std::size_t>(node)];
    pools[type].give_back(part, Share{index, 1, 0});
  });
}

bool Cluster::take_again(const TaskView& task) {
  const Amount part = held_by(task);
  if (part == Amount{}) return true;
  bool all = true;
  task.each_node([&](NodeId node) {
    const auto [type, index] = place[static_cast<std::size_t>(node)];
    const Share share{index, 1, 0};
    all = pools[type].take_there(part, {&share, 1}) && all;
  });
  return all;
}

// One that has changed since the task started, and is of another type now, is not among them.
std::vector<Share> Cluster::shares_of(const TaskView& task) const {
  std::vector<Share> out;
  task.each_node([&](NodeId node) {
    const auto at = place[static_cast<std::size_t>(node)];
    if (at.type == type_of(task)) out.push_back(Share{at.index, 1, 0});
  });
  return out;
}

}  // namespace tandem::place
