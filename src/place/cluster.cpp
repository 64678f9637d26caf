#include "place/cluster.h"

#include <algorithm>

namespace tandem::place {
namespace {

bool same_type(const NodeView& a, const NodeView& b) {
  return a.type == b.type && a.largest == b.largest && a.traits == b.traits;
}

Amount held_by(const TaskView& task) {
  return {task.cores_held * std::int64_t{1000}, task.memory_held, task.gpus_held, 0};
}

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
  return task.attempt == 1 && !task.evicted && !job.cancelled && !job.tune && task.drop == 0 &&
         task.reported() >= job.spec.epochs;
}

Amount amount_of(const Resources& resources) {
  return {resources.cores * std::int64_t{1000}, resources.memory, resources.gpus, 0};
}

Resources wanted_of(const TaskView& task) {
  if (task.options.empty()) return task.wanted;
  return std::min_element(task.options.begin(), task.options.end(),
                          [](const Option& a, const Option& b) {
                            return a.resources.cores * a.seconds < b.resources.cores * b.seconds;
                          })
      ->resources;
}

TaskWish wish_of(const View& view, const TaskView& task) {
  const auto& place = view.jobs[static_cast<std::size_t>(task.job)].spec.place;
  return {amount_of(wanted_of(task)), 1, place.architecture, place.accelerator, place.labels};
}

Cluster cluster_of(const View& view) {
  Cluster out;
  out.place.resize(view.nodes.size());
  for (const auto& node : view.nodes) {
    std::uint32_t type = 0;
    while (type < out.types.size() &&
           !same_type(view.nodes[static_cast<std::size_t>(out.nodes[type].front())], node))
      ++type;
    if (type == out.types.size()) {
      out.types.push_back(type_of(node));
      out.traits.push_back(node.traits);
      out.nodes.emplace_back();
    }
    out.place[static_cast<std::size_t>(node.id)] = {type, static_cast<std::uint32_t>(out.nodes[type].size())};
    out.nodes[type].push_back(node.id);
    ++out.types[type].count;
  }
  for (const auto& type : out.types) out.pools.emplace_back(type.node, type.count);
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
  const auto [type, index] = place[static_cast<std::size_t>(task.node)];
  pools[type].give_back(part, Share{index, 1, 0});
}

bool Cluster::take_again(const TaskView& task) {
  const Amount part = held_by(task);
  if (part == Amount{}) return true;
  const auto [type, index] = place[static_cast<std::size_t>(task.node)];
  const Share share{index, 1, 0};
  return pools[type].take_there(part, {&share, 1});
}

}  // namespace tandem::place
