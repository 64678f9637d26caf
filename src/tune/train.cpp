#include "tune/train.h"

#include <fmt/format.h>

#include "base/error.h"
#include "tune/possible.h"
#include "tune/retry.h"
#include "tune/time_limit.h"

namespace tandem::tune {
namespace {

const TaskView* task_of(const View& view, JobId job) {
  const auto& tasks = view.jobs[static_cast<std::size_t>(job)].tasks;
  return tasks.empty() ? nullptr : &view.tasks[static_cast<std::size_t>(tasks.front())];
}

struct TrainStep {
  const View& view;
  std::vector<DecisionBody> out;

  const JobView& job_of(TaskId task) const {
    return view.jobs[static_cast<std::size_t>(view.tasks[static_cast<std::size_t>(task)].job)];
  }

  void ask(const JobView& job) {
    try {
      require_possible(job.base(), view);
    } catch (const UserError& e) {
      return finish(job, JobState::failed, e.what());
    }
    const TaskView* known = task_of(view, job.id);
    const TaskId id = known ? known->id : static_cast<TaskId>(view.tasks.size());
    Request request{id, job.id, settable_somewhere(view, job.base().system)};
    request.priority = job.base().place.priority;
    request.nodes = job.base().nodes;
    out.push_back(std::move(request));
  }

  void arm_time_limit(const JobView& job) {
    if (const auto& limit = job.base().limits.time) wake_when_used_up(view, job, *limit - job.active, out);
  }

  void operator()(const JobSubmitted& e) {
    const auto& job = view.jobs[static_cast<std::size_t>(e.job)];
    ask(job);
    arm_time_limit(job);
  }
  void operator()(const JobResumed& e) {
    const auto& job = view.jobs[static_cast<std::size_t>(e.job)];
    const TaskView* task = task_of(view, e.job);
    if (task == nullptr || !task->holds_resources()) ask(job);
    arm_time_limit(job);
  }
  void operator()(const JobCancelled& e) {
    const auto& job = view.jobs[static_cast<std::size_t>(e.job)];
    const TaskView* task = task_of(view, e.job);
    const bool running = task != nullptr && task->holds_resources();
    if (!running && job.state == JobState::running) finish(job, JobState::stopped, job.cancel_reason);
  }
  void operator()(const EpochEnded& e) {
    if (view.tasks[static_cast<std::size_t>(e.task)].state == TaskState::running && !job_of(e.task).cancelled)
      out.push_back(Continue{e.task, e.attempt, e.epoch});
  }
  void operator()(const TaskEnded& e) {
    const auto& job = job_of(e.task);
    const auto& task = view.tasks[static_cast<std::size_t>(e.task)];
    const auto reported = task.reported();
    if (job.state != JobState::running) return;
    if (reported >= job.base().epochs && !(job.base().program.plain && (task.evicted || job.cancelled)))
      finish(job, JobState::finished, "");
    else if (job.cancelled)
      finish(job, JobState::stopped, job.cancel_reason);
    else if (task.evicted)
      ask(job);
    else
      finish(job, JobState::finished,
             fmt::format("the program ended by itself after {} of {} epochs", reported, job.base().epochs));
  }
  void operator()(const TaskFailed& e) { after_failure(e); }
  void operator()(const DecisionRefused&) {
    // Of all decisions only a refused Start leaves a task of a running job failed and asked for by nobody.
    for (const auto& task : view.tasks)
      if (task.state == TaskState::failed && job_of(task.id).as<spec::TrainJob>() &&
          job_of(task.id).state == JobState::running)
        after_failure(*task.last_failure);
  }
  void operator()(const Woke&) {
    for (const auto& job : view.jobs) {
      if (!job.as<spec::TrainJob>() || job.state != JobState::running || !job.base().limits.time) continue;
      if (job.active >= *job.base().limits.time)
        finish(job, JobState::stopped, "limits.time of " + text(*job.base().limits.time) + " is used up");
      else
        arm_time_limit(job);  // the clock was set back, or a session ended in between
    }
  }
  template <class Other>
  void operator()(const Other&) {}

  void after_failure(const TaskFailed& e) {
    const auto& job = job_of(e.task);
    const auto& task = view.tasks[static_cast<std::size_t>(e.task)];
    if (job.state != JobState::running) return;
    if (job.cancelled)
      finish(job, JobState::stopped, job.cancel_reason);
    else if (task.evicted || worth_another_attempt(task, e, job.base().limits))
      ask(job);
    else if (const auto held = why_held(task, job.base().limits); !held.empty())
      finish(job, JobState::failed, held);
    else
      finish(job, JobState::failed, fmt::format("{}: {}", name(e.failure), e.detail));
  }

  void finish(const JobView& job, JobState state, std::string reason) {
    out.push_back(FinishJob{job.id, state, std::move(reason)});
  }
};

}  // namespace

namespace {

// Jobs of other kinds have controllers of their own.
bool of_another_kind(const View& view, const EventBody& body) {
  const auto other = [&](JobId job) {
    return view.jobs[static_cast<std::size_t>(job)].as<spec::TrainJob>() == nullptr;
  };
  return std::visit(
      [&](const auto& e) {
        if constexpr (requires { e.job; }) return other(e.job);
        if constexpr (requires { e.task; }) return other(view.tasks[static_cast<std::size_t>(e.task)].job);
        return false;
      },
      body);
}

}  // namespace

std::vector<DecisionBody> TrainController::step(const View& view, const Event& event) {
  if (of_another_kind(view, event.body)) return {};
  TrainStep step{view, {}};
  std::visit(step, event.body);
  return std::move(step.out);
}

}  // namespace tandem::tune
