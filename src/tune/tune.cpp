#include "tune/tune.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "tune/possible.h"
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

// The search that begins with this event. One that could not begin, on a machine that had not what it needs, may
// when it is resumed.
const spec::TuneJob* begins(const View& view, const EventBody& body, const auto& known) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&body))
    return std::get_if<spec::TuneJob>(&submitted->spec);
  const auto* resumed = std::get_if<JobResumed>(&body);
  if (!resumed || known.contains(resumed->job)) return nullptr;
  return view.jobs[static_cast<std::size_t>(resumed->job)].template as<spec::TuneJob>();
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
  if (const auto* job = begins(view, event.body, jobs_)) {
    const JobId id = *tune_job_of(view, event.body);
    try {
      require_possible(*job, view);
      auto& tuning = jobs_[id] = std::make_unique<Tuning>(id, view);
      tuning->began(view, out);
    } catch (const UserError& e) {
      jobs_.erase(id);
      out = {FinishJob{id, JobState::failed, e.what()}};
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
  if (begins(view, event.body, jobs_)) {
    const JobId id = *tune_job_of(view, event.body);
    try {
      jobs_[id] = std::make_unique<Tuning>(id, view);
    } catch (const UserError&) {
      jobs_.erase(id);
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
