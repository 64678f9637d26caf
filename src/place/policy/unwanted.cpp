#include "place/policy/unwanted.h"

#include <cstddef>

namespace tandem::place {

bool wanted_no_more(const View& view, const TaskView& task) {
  const auto& job = view.jobs[static_cast<std::size_t>(task.job)];
  return task.released || job.cancelled || job.state != JobState::running;
}

Stop stop_of_unwanted(const View& view, const TaskView& task) {
  const auto& job = view.jobs[static_cast<std::size_t>(task.job)];
  const auto& over = job.state != JobState::running ? job.reason : task.release_reason;
  return {task.id, task.attempt, job.cancelled ? job.cancel_reason : over};
}

std::vector<Stop> stops_of_unwanted(const View& view) {
  std::vector<Stop> out;
  for (const TaskId id : view.holding) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    if (task.state != TaskState::stopping && wanted_no_more(view, task))
      out.push_back(stop_of_unwanted(view, task));
  }
  return out;
}

}  // namespace tandem::place
