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

}  // namespace tandem::place
