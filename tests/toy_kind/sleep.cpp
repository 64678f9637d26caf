#include "tests/toy_kind/sleep.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "spec/into.h"
#include "spec/reading.h"
#include "tune/retry.h"

namespace tandem::toy {
namespace {

using nlohmann::json;

const std::string kName = "sleep";

// ---- what people write ----

struct SleepSpec {
  std::string name = kName;
  std::int64_t naps = 1;
  Seconds each{1};
};

std::vector<spec::Field> sleep_fields() {
  using spec::Type;
  return {
      {.name = "kind", .description = "what this is", .required = true, .choices = std::vector{kName}},
      {.name = "name", .store = spec::into([](SleepSpec & s) -> auto& { return s.name; })},
      {.name = "naps", .type = Type::whole, .least = 1, .most = 1000, .store = spec::into([
                                                                      ](SleepSpec & s) -> auto& {
                                                                        return s.naps;
                                                                      })},
      {.name = "each", .type = Type::seconds, .above = 0, .store = spec::into([](SleepSpec & s) -> auto& {
                                                            return s.each;
                                                          })},
  };
}

spec::Job parse(std::string_view text, const std::string& file_name, const Catalogue&) {
  spec::Issues issues(file_name);
  SleepSpec found;
  if (const auto root = spec::read_kind(text, kName, issues))
    spec::read_table(sleep_fields(), false, *root, "", &found, issues);
  if (!issues.empty()) spec::refuse(issues.in_order());
  spec::CustomJob job;
  job.kind = kName;
  job.base.name = found.name;
  job.base.epochs = 0;
  job.base.program.command = {"sleep", fmt::format("{}", found.each.value)};
  job.base.program.plain = true;
  job.base.place.seconds = found.each;
  job.body = json{{"naps", found.naps}}.dump();
  return job;
}

const spec::CustomJob* sleep_of(const JobView& job) {
  const auto* custom = job.as<spec::CustomJob>();
  return custom != nullptr && custom->kind == kName ? custom : nullptr;
}

std::int64_t naps_of(const JobView& job) {
  return json::parse(sleep_of(job)->body).at("naps").get<std::int64_t>();
}

// Naps are taken one after another: of those that were begun only the last may not be over.
std::int64_t naps_over(const JobView& job) {
  const auto begun = static_cast<std::int64_t>(job.tasks.size());
  return job.state == JobState::finished || begun == 0 ? begun : begun - 1;
}

// ---- who decides ----

// Rules: one nap at a time; one that was cut off is taken again; one that fails for good fails the job. All
// state is in the view.
class SleepController final : public Policy {
 public:
  std::vector<DecisionBody> step(const View& view, const Event& event) override {
    out_.clear();
    if (std::holds_alternative<DecisionRefused>(event.body)) {  // a refused Start leaves its task failed
      for (const auto& job : view.jobs)
        if (sleep_of(job) && job.state == JobState::running && !job.tasks.empty())
          if (const auto& task = last(view, job); task.state == TaskState::failed) failed(view, job, task);
    } else if (const JobView* job = job_of(view, event.body); job && sleep_of(*job)) {
      react(view, *job, event.body);
    }
    return std::move(out_);
  }

 private:
  static const TaskView& last(const View& view, const JobView& job) {
    return view.tasks[static_cast<std::size_t>(job.tasks.back())];
  }
  static const JobView* job_of(const View& view, const EventBody& body) {
    return std::visit(
        [&](const auto& e) -> const JobView* {
          if constexpr (requires { e.job; }) return &view.jobs[static_cast<std::size_t>(e.job)];
          if constexpr (requires { e.task; })
            return &view.jobs[static_cast<std::size_t>(view.tasks[static_cast<std::size_t>(e.task)].job)];
          return nullptr;
        },
        body);
  }
  void ask(const JobView& job, TaskId task) { out_.push_back(Request{task, job.id, job.base().system}); }
  void next(const View& view, const JobView& job) { ask(job, static_cast<TaskId>(view.tasks.size())); }
  void finish(const JobView& job, JobState state, const std::string& reason) {
    out_.push_back(FinishJob{job.id, state, reason});
  }

  void react(const View& view, const JobView& job, const EventBody& body) {
    if (std::holds_alternative<JobSubmitted>(body)) next(view, job);
    if (job.tasks.empty()) return;
    const auto& task = last(view, job);
    if (std::holds_alternative<JobResumed>(body) && !task.alive) ask(job, task.id);
    if (std::holds_alternative<JobCancelled>(body) && !task.alive && job.state == JobState::running)
      finish(job, JobState::stopped, job.cancel_reason);
    if (std::holds_alternative<TaskEnded>(body) && job.state == JobState::running) ended(view, job, task);
    if (std::holds_alternative<TaskFailed>(body) && job.state == JobState::running) failed(view, job, task);
  }
  void ended(const View& view, const JobView& job, const TaskView& task) {
    if (job.cancelled) return finish(job, JobState::stopped, job.cancel_reason);
    if (task.evicted) return ask(job, task.id);
    if (static_cast<std::int64_t>(job.tasks.size()) < naps_of(job)) return next(view, job);
    finish(job, JobState::finished, "");
  }
  void failed(const View&, const JobView& job, const TaskView& task) {
    if (job.cancelled) return finish(job, JobState::stopped, job.cancel_reason);
    const auto& failure = *task.last_failure;
    if (task.evicted || tune::worth_another_attempt(task, failure, job.base().limits))
      return ask(job, task.id);
    finish(job, JobState::failed, failure.detail);
  }

  std::vector<DecisionBody> out_;
};

// ---- what came of it ----

json results(const store::RunInfo&, const View& view, const app::TaskFolders&) {
  const auto& job = view.jobs.front();
  const auto over = naps_over(job);
  Seconds slept;
  for (std::int64_t i = 0; i < over; ++i) {
    const auto& task = view.tasks[static_cast<std::size_t>(job.tasks[static_cast<std::size_t>(i)])];
    slept += task.ended_at - task.started_at;
  }
  return {{"naps", over}, {"naps_wanted", naps_of(job)}, {"slept_seconds", slept.value}};
}

}  // namespace

app::Kind sleep_kind() {
  return {.name = kName,
          .unit = "nap",
          .description = "Sleep, one nap after another",
          .parse = parse,
          .controller = []() -> std::unique_ptr<Policy> { return std::make_unique<SleepController>(); },
          .results = results,
          .progress = [](const View&, const JobView& job) -> app::Progress {
            return {naps_over(job), naps_of(job), "naps"};
          }};
}

}  // namespace tandem::toy
