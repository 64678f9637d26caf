#include "server/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/job_json.h"
#include "place/engine/placement_reason.h"

namespace tandem::server {

using nlohmann::json;
using namespace app;

json explained(const Published& now, const JobView& job) {
  if (job.tasks.empty()) return nullptr;
  const auto& task = telling_task(now.view, job);
  if (job.state != JobState::running && task.attempt == 0) {
    place::Explanation never{.policy = now.scheduler->policy.name,
                             .verdict = "it ended before it was placed"};
    return {{"explanation", explanation_json(never)}, {"explains", "why it was never placed"}};
  }
  const bool waits = !task.alive && task.state == TaskState::waiting;
  if (job.state == JobState::running && (waits || task.attempt == 0))
    return {{"explanation", explanation_json(now.scheduler->explain(now.view, task.id))},
            {"explains", "why it waits"}};
  return {{"explanation", explanation_json(place::explain_placement(now.view, now.scheduler->policy, task))},
          {"explains", fmt::format("why attempt {} was put on {}", task.attempt,
                                   now.view.nodes[static_cast<std::size_t>(task.node)].name)}};
}

std::vector<JobId> ended_until(const View& view, Seconds until, std::size_t most,
                               std::optional<Seconds>& next) {
  std::vector<JobId> out;
  const auto alive = [&](TaskId task) { return view.tasks[static_cast<std::size_t>(task)].alive; };
  for (const auto& job : view.jobs) {
    if (job.state == JobState::running || std::any_of(job.tasks.begin(), job.tasks.end(), alive)) continue;
    if (job.finished_at <= until)
      out.push_back(job.id);
    else if (!next || job.finished_at < *next)
      next = job.finished_at;
    if (out.size() == most) break;
  }
  return out;
}

store::ArchivedJob archived_job(const Published& now, const JobView& job) {
  auto row = job_json(now.view, job), whole = whole_job_json(now.view, job);
  row["archived"] = whole["archived"] = true;
  whole["explained"] = explained(now, job);
  const auto text = [](const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  return {job.id, job.base().name, name(job.state), text(row), text(whole), job.owner.user};
}

bool Archivist::work(control::Loop& loop, const std::shared_ptr<const place::SchedulerKnowledge>& scheduler) {
  const Seconds clock = loop.view().now;
  if (!after_ || clock < look_again_) return false;
  std::optional<Seconds> next;
  const auto due = ended_until(loop.view(), clock - *after_, kAtOnce, next);
  // Whoever ends from now on is due later than the others.
  if (due.size() < kAtOnce) look_again_ = next.value_or(clock) + *after_;
  if (due.empty()) return false;
  const Published now{loop.share(), scheduler};
  std::vector<store::ArchivedJob> kept;
  for (const JobId id : due) kept.push_back(archived_job(now, now.view.jobs[static_cast<std::size_t>(id)]));
  store_.keep_archived(run_, kept);
  loop.archive(due);
  return true;
}

}  // namespace tandem::server
