#include "place/fifo.h"

namespace tandem::place {
namespace {

bool wanted_no_more(const JobView& job) {
  return job.cancelled || job.state != JobState::running;
}

std::string why(const JobView& job) {
  return job.cancelled ? job.cancel_reason : job.reason;
}

}  // namespace

std::vector<DecisionBody> Fifo::step(const View& view, const Event&) {
  std::vector<DecisionBody> out;
  for (TaskId id : view.holding) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    const auto& job = view.jobs[static_cast<std::size_t>(task.job)];
    if (wanted_no_more(job) && task.state != TaskState::stopping)
      out.push_back(Stop{id, task.attempt, why(job)});
  }
  if (view.waiting.empty()) return out;

  std::vector<std::pair<int, Bytes>> free;
  for (const auto& node : view.nodes) free.emplace_back(node.free_cores, node.free_memory);
  for (TaskId id : view.waiting) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    if (wanted_no_more(view.jobs[static_cast<std::size_t>(task.job)])) continue;
    bool placed = false;
    for (std::size_t node = 0; node < free.size() && !placed; ++node) {
      auto& [cores, memory] = free[node];
      if (task.wanted.cores > cores || task.wanted.memory > memory) continue;
      cores -= task.wanted.cores;
      memory -= task.wanted.memory;
      out.push_back(Start{id, task.attempt + 1, static_cast<NodeId>(node), task.wanted});
      placed = true;
    }
    if (!placed) break;
  }
  return out;
}

}  // namespace tandem::place
