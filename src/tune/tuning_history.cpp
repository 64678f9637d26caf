// The half of Tuning that takes history as it was.
#include <stdexcept>

#include "event/consistency.h"
#include "tune/goals.h"
#include "tune/tuning.h"

namespace tandem::tune {
namespace {

template <class Word>
bool any_about(std::span<const Decision> decisions, TaskId task) {
  for (const auto& decision : decisions)
    if (const auto* word = std::get_if<Word>(&decision.body); word && word->task == task) return true;
  return false;
}

// The first word about the task tells: a Request after a Hold is a promotion, a Hold after a Request is the
// allocator's.
std::optional<search::Verdict> verdict_in(std::span<const Decision> decisions, TaskId task) {
  const auto is_about = [&](const auto* word) { return word && word->task == task; };
  for (const auto& decision : decisions) {
    if (is_about(std::get_if<Request>(&decision.body))) return search::Verdict::go_on;
    if (is_about(std::get_if<Hold>(&decision.body))) return search::Verdict::hold;
    if (is_about(std::get_if<Release>(&decision.body))) return search::Verdict::stop;
  }
  return std::nullopt;
}

// A damaged journal may name brackets and rungs that the search does not have.
template <class Tell>
void tell_history(const Tell& tell) {
  try {
    tell();
  } catch (const std::out_of_range&) {
    throw Contradiction("it speaks of a trial that the search has no place for");
  }
}

}  // namespace

void Tuning::remember(const View& view, const Event& event, std::span<const Decision> decisions) {
  if (const auto* epoch = std::get_if<EpochEnded>(&event.body)) remember_epoch(view, *epoch, decisions);
  if (const auto* slice = std::get_if<SliceEnded>(&event.body); slice && tuner_ && trial_of(slice->task))
    tuner_->saw(task_at(view, slice->task), *slice);
  if (const auto* failed = std::get_if<TaskFailed>(&event.body)) remember_end(view, failed->task, decisions);
  if (const auto* ended = std::get_if<TaskEnded>(&event.body)) remember_end(view, ended->task, decisions);
  if (std::holds_alternative<DecisionRefused>(event.body))
    for (const auto& trial : trials_)
      if (task_at(view, trial.task).state == TaskState::failed) remember_end(view, trial.task, decisions);
  if (const auto* resumed = std::get_if<JobResumed>(&event.body); resumed && resumed->job == id_) take_up(view);
  for (const auto& decision : decisions) {
    if (const auto* request = std::get_if<Request>(&decision.body); request && request->job == id_)
      remember_request(*request);
    if (const auto* release = std::get_if<Release>(&decision.body)) remember_release(*release);
  }
  searcher_->dropped();  // their releases are among the decisions
}

void Tuning::remember_epoch(const View& view, const EpochEnded& e, std::span<const Decision> decisions) {
  Trial* trial = trial_of(e.task);
  if (!trial) return;
  account(e);
  const auto verdict = verdict_in(decisions, e.task);
  if (!verdict) return;  // nobody listened
  const auto& task = task_at(view, e.task);
  if (tuner_) tuner_->ended(task, task.trial->hyper);
  const auto values =
      goal_values(job_.objective, task, task.epochs.size() - 1, price_of_time(view, job(view)));
  if (!values || e.epoch <= trial->told) return;
  if (trial->state != State::running || e.epoch <= task.trial->clone_epoch)
    throw Contradiction("it judges an epoch of a trial that was not to run it");
  note_success(*trial, e.epoch, *values);
  tell_history([&] {
    searcher_->told(trial->ask.trial, e.epoch, losses(job_, *values, task, task.epochs.size() - 1), *verdict);
  });
  if (*verdict == search::Verdict::hold) trial->state = State::held;
  if (*verdict == search::Verdict::stop) trial->state = State::over;
}

// A trial that ended and was not asked for again was given up, unless the job itself was ending.
void Tuning::remember_end(const View& view, TaskId id, std::span<const Decision> decisions) {
  Trial* trial = trial_of(id);
  if (!trial || trial->state != State::running || job(view).state != JobState::running || job(view).cancelled)
    return;
  if (any_about<Request>(decisions, id)) return;
  give_up(view, *trial);
}

void Tuning::remember_request(const Request& request) {
  if (!request.trial) return;
  Trial* trial = trial_of(request.task);
  if (!trial) {
    const auto id = static_cast<search::TrialId>(trials_.size());
    by_task_[request.task] = trials_.size();
    trials_.push_back({{.trial = id}, request.task, State::held});
    trial = &trials_.back();
  }
  if (tuner_) tuner_->assign(request.task, request.workload);
  if (trial->state != State::held) return;  // it goes on, or is tried again
  trial->ask.point = request.trial->point;
  trial->ask.until = request.trial->until;
  trial->ask.bracket = request.trial->bracket;
  trial->ask.rung = request.trial->rung;
  trial->ask.clone_from.reset();
  if (request.trial->clone_from) {
    const Trial* from = trial_of(*request.trial->clone_from);
    if (!from) throw Contradiction("it begins from a task that is no trial of the job");
    trial->ask.clone_from = from->ask.trial;
  }
  trial->state = State::running;
  if (trial->ask.until < 1) throw Contradiction("it asks for a trial of no epochs");
  tell_history([&] { searcher_->asked(trial->ask); });
}

void Tuning::remember_release(const Release& release) {
  Trial* trial = trial_of(release.task);
  if (!trial) return;
  // Released although it never reported: it could not be run at all.
  if (trial->state == State::running) searcher_->left(trial->ask.trial);
  trial->state = State::over;
}

}  // namespace tandem::tune
