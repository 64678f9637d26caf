#include "app/job_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/installation.h"
#include "app/job_json.h"
#include "app/runs.h"
#include "base/error.h"
#include "base/text.h"

namespace tandem::app {
namespace fs = std::filesystem;

fs::path TaskFolders::of(TaskId task) const {
  const auto number = numbers.empty() ? task : numbers.at(static_cast<std::size_t>(task));
  return run / fmt::format("task-{}", number);
}

fs::path TaskFolders::output_of(TaskId task) const {
  const auto number = numbers.empty() ? task : numbers.at(static_cast<std::size_t>(task));
  std::error_code error;
  const auto beside = fmt::format("output-{}.log", number);  // Slurm's jobs write beside the folders
  if (fs::exists(fs::symlink_status(run / beside, error))) return beside;
  return fmt::format("task-{}/output.log", number);
}

JobRun whole_run(const store::RunInfo& run, View view, const fs::path& folder) {
  return {run, std::move(view), {folder, {}}};
}

JobRun job_of_server(const store::RunInfo& run, const View& view, JobId id, const fs::path& folder) {
  if (!view.jobs.contains(id)) throw UserError(fmt::format("server '{}' has no job {}", run.name, id));
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  JobRun out{run, {}, {folder, job.tasks}};
  out.run.id = fmt::format("{}/{}", run.id, id);
  out.run.kind = spec::kind_of(job.spec);
  out.run.name = job.base().name;
  out.run.state = state_of(view, job);
  out.run.reason = job.reason;
  out.run.created = job.submitted_at;
  out.view.now = view.now;
  out.view.events = view.events;
  out.view.nodes = view.nodes;
  out.view.known = view.known;
  out.view.jobs = {job};
  out.view.jobs.front().id = 0;
  const auto number_of = [&](TaskId task) {
    const auto at = std::find(job.tasks.begin(), job.tasks.end(), task);
    return static_cast<TaskId>(at - job.tasks.begin());
  };
  auto& numbers = out.view.jobs.front().tasks;
  numbers.clear();
  for (const TaskId task : job.tasks) {
    auto& copy = out.view.tasks.emplace_back(view.tasks[static_cast<std::size_t>(task)]);
    copy.id = static_cast<TaskId>(numbers.size());
    copy.job = 0;
    if (copy.trial && copy.trial->clone_from) copy.trial->clone_from = number_of(*copy.trial->clone_from);
    numbers.push_back(copy.id);
  }
  return out;
}

std::optional<JobId> job_number(const std::string& written) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (written.empty() || written.size() > 9 || !std::all_of(written.begin(), written.end(), digit))
    return std::nullopt;
  return static_cast<JobId>(std::stoul(written));
}

JobId find_job(const View& view, const std::string& written) {
  if (const auto number = job_number(written)) {
    if (view.jobs.contains(*number)) return *number;
  } else {
    for (auto job = view.jobs.rbegin(); job != view.jobs.rend(); ++job)
      if (job->base().name == written) return job->id;
  }
  throw UserError(fmt::format("there is no job {} there", printable(written, 60)));
}

store::RunInfo find_server(store::Store& store, const std::string& written) {
  for (auto& run : store.runs())
    if (is_server(run) && (run.name == written || run.id == written)) return run;
  throw UserError(fmt::format("there is no server called '{}' in this store; `{} runs` lists them",
                              printable(written, 60), own_command()));
}

JobRun find_job_run(store::Store& store, const std::string& written) {
  if (const auto slash = written.rfind('/'); slash != std::string::npos) {
    const auto server = find_server(store, written.substr(0, slash));
    const auto job = written.substr(slash + 1);
    const View view = replayed(store, server, job_number(job));  // by name it may be any of them
    return job_of_server(server, view, find_job(view, job), store.run_folder(server.id));
  }
  const auto run = with_real_state(store, find_own_run(store, written));
  return whole_run(run, replayed(store, run), store.run_folder(run.id));
}

}  // namespace tandem::app
