#include "server/job_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/job_json.h"

namespace tandem::server {
namespace {

std::string made(const View& view, const JobView& job) {
  return app::job_json(view, job).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

JobRows::As JobRows::as_it_is(const View& view, const JobView& job) {
  return {job.state, job.reason, job.finished_at, job.tasks.size(),
          job.tasks.empty() ? 0 : task_at(view, job.tasks.front()).attempt};
}

std::string JobRows::row(const View& view, const JobView& job) {
  const auto alive = [&](TaskId id) { return task_at(view, id).alive; };  // its energy is still to come
  if (job.state == JobState::running || std::any_of(job.tasks.begin(), job.tasks.end(), alive))
    return made(view, job);
  auto as = as_it_is(view, job);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(job.id); found != kept_.end() && found->second.as == as)
      return found->second.text;
  }
  auto text = made(view, job);
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kMostKept) kept_.clear();
  kept_.insert_or_assign(job.id, Kept{std::move(as), text});
  return text;
}

std::size_t JobRows::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

}  // namespace tandem::server
