#include "tune/experiment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tune/retry.h"
#include "tune/time_limit.h"

namespace tandem::tune {
namespace {

bool complete(const TaskView& task) {
  return task.reported() >= task.trial->epochs;
}

// One job's part of a step.
struct ExperimentStep {
  const View& view;
  const JobView& job;
  const Plan& plan;
  std::vector<DecisionBody>& out;

  // The tasks of the run that was begun last.
  std::vector<const TaskView*> current() const {
    std::vector<const TaskView*> tasks;
    if (job.tasks.empty()) return tasks;
    const auto run = task_at(view, job.tasks.back()).trial->bracket;
    for (const TaskId id : job.tasks)
      if (task_at(view, id).trial->bracket == run) tasks.push_back(&task_at(view, id));
    return tasks;
  }

  void begin(std::size_t number) {
    const auto& run = plan.runs[number];
    for (int i = 0; i < run.jobs; ++i) {
      Request request{
          .task = static_cast<TaskId>(view.tasks.size()) + i, .job = job.id, .wanted = run.wanted};
      request.trial = TrialPart{.hyper = run.hyper,
                                .epochs = run.epochs,
                                .until = run.epochs,
                                .bracket = static_cast<std::int64_t>(number),
                                .rung = static_cast<std::int64_t>(run.design.replication),
                                .point = run.design.at};
      request.epochs_left = run.epochs;
      request.priority = job.base().place.priority;
      request.nodes = run.nodes;
      out.push_back(std::move(request));
    }
  }

  void again(const TaskView& task) {
    Request request{.task = task.id, .job = job.id, .wanted = task.wanted};
    request.trial = task.trial;
    request.epochs_left = std::max<std::int64_t>(task.trial->epochs - task.reported(), 1);
    request.priority = task.priority;
    request.nodes = task.nodes_wanted;
    out.push_back(std::move(request));
  }

  void submitted() {
    for (const auto& run : plan.runs)
      if (const auto why = why_never(run, view.nodes); !why.empty()) return finish(JobState::failed, why);
    arm_time_limit();
    begin(0);
  }

  // Of the run that was cut off what is not complete is asked for again; runs before it stay as they are.
  void resumed() {
    arm_time_limit();
    if (job.tasks.empty()) return begin(0);
    bool asked = false;
    for (const TaskView* task : current()) {
      if (task->alive || task->state == TaskState::waiting || complete(*task)) continue;
      again(*task);
      asked = true;
    }
    if (!asked) advance();
  }

  void cancelled() {
    const bool alive = std::any_of(job.tasks.begin(), job.tasks.end(),
                                   [&](TaskId id) { return task_at(view, id).holds_resources(); });
    if (!alive && job.state == JobState::running) finish(JobState::stopped, job.cancel_reason);
  }

  void ended(const TaskView& task) {
    if (job.state != JobState::running) return;
    if (job.cancelled) return cancelled();
    if (task.evicted && !complete(task)) return again(task);
    advance();
  }

  void failed(const TaskView& task, const TaskFailed& failure) {
    if (job.state != JobState::running) return;
    if (job.cancelled) return cancelled();
    if (task.evicted || worth_another_attempt(task, failure, job.base().limits)) return again(task);
    if (const auto held = why_held(task, job.base().limits); !held.empty())
      return finish(JobState::failed, held);
    advance();
  }

  // On to the next run once all tasks of this one are over.
  void advance() {
    const auto tasks = current();
    const auto open = [](const TaskView* t) {
      return t->alive || t->state == TaskState::waiting || t->state == TaskState::starting;
    };
    if (tasks.empty() || std::any_of(tasks.begin(), tasks.end(), open)) return;
    const auto next = static_cast<std::size_t>(tasks.front()->trial->bracket) + 1;
    if (next < plan.runs.size()) return begin(next);
    conclude();
  }

  void conclude() {
    std::size_t failures = 0;
    const TaskView* last = nullptr;
    for (const TaskId id : job.tasks) {
      const auto& task = task_at(view, id);
      if (task.state != TaskState::failed) continue;
      ++failures;
      last = &task;
    }
    if (failures == 0) return finish(JobState::finished, "");
    const std::string detail = last->last_failure ? fmt::format("{}: {}", name(last->last_failure->failure),
                                                                last->last_failure->detail)
                                                  : "failed";
    if (failures == job.tasks.size())
      return finish(JobState::failed, "every run failed; the last: " + detail);
    finish(JobState::finished,
           fmt::format("{} of {} tasks failed; the last: {}", failures, job.tasks.size(), detail));
  }

  void woke() {
    if (job.state != JobState::running || !job.base().limits.time) return;
    if (job.active >= *job.base().limits.time)
      finish(JobState::stopped, "limits.time of " + text(*job.base().limits.time) + " is used up");
    else
      arm_time_limit();  // the clock was set back, or a session ended in between
  }

  void arm_time_limit() {
    if (const auto& limit = job.base().limits.time) wake_when_used_up(view, job, *limit - job.active, out);
  }

  void finish(JobState state, std::string reason) {
    out.push_back(FinishJob{job.id, state, std::move(reason)});
  }
};

// The job an event is about, if it is about one.
const JobView* experiment_of(const View& view, const EventBody& body) {
  return std::visit(
      [&](const auto& e) -> const JobView* {
        if constexpr (requires { e.job; }) return &view.jobs[static_cast<std::size_t>(e.job)];
        if constexpr (requires { e.task; })
          return &view.jobs[static_cast<std::size_t>(task_at(view, e.task).job)];
        return nullptr;
      },
      body);
}

void react(ExperimentStep& step, const EventBody& body) {
  if (std::holds_alternative<JobSubmitted>(body)) step.submitted();
  if (std::holds_alternative<JobResumed>(body)) step.resumed();
  if (std::holds_alternative<JobCancelled>(body)) step.cancelled();
  if (const auto* e = std::get_if<TaskEnded>(&body)) step.ended(task_at(step.view, e->task));
  if (const auto* e = std::get_if<TaskFailed>(&body)) step.failed(task_at(step.view, e->task), *e);
  if (const auto* e = std::get_if<EpochEnded>(&body))
    if (task_at(step.view, e->task).state == TaskState::running && !step.job.cancelled)
      step.out.push_back(Continue{e->task, e->attempt, e->epoch});
}

}  // namespace

const Plan& ExperimentController::plan(const JobView& job) {
  const auto found = plans_.find(job.id);
  if (found != plans_.end()) return found->second;
  return plans_.emplace(job.id, plan_of(*job.as<spec::Experiment>())).first->second;
}

std::vector<DecisionBody> ExperimentController::step(const View& view, const Event& event) {
  std::vector<DecisionBody> out;
  if (const JobView* job = experiment_of(view, event.body)) {
    if (!job->as<spec::Experiment>()) return out;
    try {
      ExperimentStep step{view, *job, plan(*job), out};
      react(step, event.body);
    } catch (const UserError& e) {  // of the plan: nothing was begun
      out = {FinishJob{job->id, JobState::failed, e.what()}};
    }
    return out;
  }
  const bool woke = std::holds_alternative<Woke>(event.body);
  if (!woke && !std::holds_alternative<DecisionRefused>(event.body)) return out;
  for (const auto& job : view.jobs) {
    if (!job.as<spec::Experiment>() || job.state != JobState::running || job.tasks.empty()) continue;
    ExperimentStep step{view, job, plan(job), out};
    if (woke)
      step.woke();
    else
      step.advance();  // a refused Start leaves a task failed, and asked for by nobody
  }
  return out;
}

}  // namespace tandem::tune
