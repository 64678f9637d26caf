#include "tune/tune.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "tune/tuning.h"

namespace tandem::tune {
namespace {

// The job an event is about, if it is about one.
std::optional<JobId> tune_job_of(const View& view, const EventBody& body) {
  return std::visit(
      [&](const auto& e) -> std::optional<JobId> {
        if constexpr (requires { e.job; }) return e.job;
        if constexpr (requires { e.task; }) return view.tasks[static_cast<std::size_t>(e.task)].job;
        return std::nullopt;
      },
      body);
}

bool is_search(const JobSubmitted& submitted) {
  return std::holds_alternative<spec::TuneJob>(submitted.spec);
}

}  // namespace

TuneController::TuneController() = default;
TuneController::~TuneController() = default;

Tuning* TuneController::of(const View& view, const Event& event) {
  const auto id = tune_job_of(view, event.body);
  const auto found = id ? jobs_.find(*id) : jobs_.end();
  return found == jobs_.end() ? nullptr : found->second.get();
}

void TuneController::forget_archived(const Event& event) {
  if (const auto* archived = std::get_if<JobsArchived>(&event.body))
    for (const JobId id : archived->jobs) jobs_.erase(id);
}

std::vector<DecisionBody> TuneController::step(const View& view, const Event& event) {
  std::vector<DecisionBody> out;
  forget_archived(event);
  if (const auto* submitted = std::get_if<JobSubmitted>(&event.body)) {
    if (!is_search(*submitted)) return out;
    try {
      auto& tuning = jobs_[submitted->job] = std::make_unique<Tuning>(submitted->job, view);
      tuning->began(view, out);
    } catch (const UserError& e) {
      jobs_.erase(submitted->job);
      out = {FinishJob{submitted->job, JobState::failed, e.what()}};
    }
    return out;
  }
  if (std::holds_alternative<Woke>(event.body) || std::holds_alternative<DecisionRefused>(event.body)) {
    for (auto& [id, tuning] : jobs_) tuning->woke(view, out);
    return out;
  }
  Tuning* tuning = of(view, event);
  if (!tuning) return out;
  if (const auto* epoch = std::get_if<EpochEnded>(&event.body)) tuning->epoch_ended(view, *epoch, out);
  if (const auto* slice = std::get_if<SliceEnded>(&event.body)) tuning->slice_ended(view, *slice, out);
  if (const auto* failed = std::get_if<TaskFailed>(&event.body)) tuning->task_failed(view, failed->task, out);
  if (const auto* ended = std::get_if<TaskEnded>(&event.body)) tuning->task_ended(view, ended->task, out);
  if (std::holds_alternative<JobResumed>(event.body)) tuning->resumed(view, out);
  if (std::holds_alternative<JobCancelled>(event.body)) tuning->cancelled(view, out);
  return out;
}

void TuneController::fold(const View& view, const Event& event, std::span<const Decision> decisions) {
  forget_archived(event);
  if (const auto* submitted = std::get_if<JobSubmitted>(&event.body); submitted && is_search(*submitted)) {
    try {
      jobs_[submitted->job] = std::make_unique<Tuning>(submitted->job, view);
    } catch (const UserError&) {
      jobs_.erase(submitted->job);
      return;
    }
  }
  for (auto& [id, tuning] : jobs_) tuning->remember(view, event, decisions);
}

std::optional<std::string> TuneController::save(const View& view) const {
  const auto alive = [&](TaskId task) { return view.tasks[static_cast<std::size_t>(task)].alive; };
  auto out = nlohmann::json::array();
  for (const auto& [id, tuning] : jobs_) {
    const auto& job = view.jobs[static_cast<std::size_t>(id)];
    if (job.state == JobState::running || std::any_of(job.tasks.begin(), job.tasks.end(), alive))
      out.push_back({id, tuning->save()});
  }
  return out.dump();
}

bool TuneController::restore(const std::string& bytes) {
  try {
    std::map<JobId, std::unique_ptr<Tuning>> jobs;
    for (const auto& row : parse_json(bytes)) jobs[row.at(0).get<JobId>()] = std::make_unique<Tuning>(row.at(1));
    jobs_ = std::move(jobs);
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  } catch (const UserError&) {
    return false;
  } catch (const SystemError&) {
    return false;
  }
}

}  // namespace tandem::tune
