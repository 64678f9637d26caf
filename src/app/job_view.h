// One job of a server seen as if it had a run of its own, so that whatever is said of runs (tables, JSON,
// pages, logs) is said of a server's jobs by the same code. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "event/view.h"
#include "store/store.h"

namespace tandem::app {

// Where the tasks of a view keep their files: task-N of a run's folder, N being the number the journal knows
// them by.
struct TaskFolders {
  TaskFolders(std::filesystem::path folder, std::vector<TaskId> known_as = {})  // NOLINT: a folder is enough
      : run(std::move(folder)), numbers(std::move(known_as)) {}
  std::filesystem::path run;
  std::vector<TaskId> numbers;  // by task of the view; empty: the view's own numbers
  std::filesystem::path of(TaskId) const;
  // What the task printed, wherever its world writes it, below the run's folder (app/task_output.h); it need
  // not be there.
  std::filesystem::path output_of(TaskId) const;
};

struct JobRun {
  store::RunInfo run;  // "RUN/JOB", with the job's kind, name, state and reason
  View view;           // one job, number 0; its tasks from 0 on; all nodes
  TaskFolders folders;
};

// A run of train, tune or characterize: itself.
JobRun whole_run(const store::RunInfo&, View, const std::filesystem::path& folder);
// Job `id` of a server's run. UserError when it has none.
JobRun job_of_server(const store::RunInfo&, const View&, JobId id, const std::filesystem::path& folder);

// The server of this name or run. UserError when there is none.
store::RunInfo find_server(store::Store&, const std::string& written);
// What a person wrote, where it is a number.
std::optional<JobId> job_number(const std::string& written);
// The newest job called so, or of this number. UserError when there is none.
JobId find_job(const View&, const std::string& written);

// What a person asks about: a run ("last", an id, a name), or a job of a server ("main/12", "main/lenet"),
// which need not be running. UserError when there is none, and for a server as a whole.
JobRun find_job_run(store::Store&, const std::string& written);

}  // namespace tandem::app
