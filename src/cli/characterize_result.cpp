#include "cli/characterize_result.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/html.h"
#include "cli/server_client.h"
#include "cli/tune_result.h"
#include "event/codec.h"
#include "tune/experiment_runs.h"

namespace tandem::cli {

using nlohmann::json;
namespace {

json task_json(const tune::MeasuredTask& task) {
  return {{"task", task.task},      {"run", task.run},
          {"point", task.point},    {"replication", task.replication},
          {"job", task.job},        {"varied", task.varied},
          {"at", to_json(task.at)}, {"state", task.state},
          {"reason", task.reason},  {"attempts", task.attempts},
          {"epochs", task.epochs},  {"measured", task.measured}};
}

std::string runs_lines(const std::vector<tune::MeasuredTask>& tasks) {
  std::vector<std::vector<std::string>> rows{{"RUN", "POINT", "REP", "JOB", "STATE", "TIME", "AT"}};
  for (const auto& task : tasks) {
    const auto time = task.measured.find("train_seconds");
    rows.push_back({std::to_string(task.run + 1), std::to_string(task.point),
                    std::to_string(task.replication + 1), std::to_string(task.job + 1), task.state,
                    time == task.measured.end() ? "-" : text(Seconds{time->second}), point_text(task.at)});
  }
  return columns(rows);
}

}  // namespace

bool is_experiment(const View& view) {
  return !view.jobs.empty() && tune::is_experiment(view.jobs.front());
}

json plan_json(const tune::Plan& plan) {
  json runs = json::array();
  for (const auto& run : plan.runs)
    runs.push_back({{"point", run.design.point},
                    {"replication", run.design.replication},
                    {"varied", run.design.varied},
                    {"at", to_json(run.design.at)},
                    {"jobs", run.jobs},
                    {"nodes", run.nodes},
                    {"epochs", run.epochs}});
  return {{"counted", plan.counted}, {"runs", runs}};
}

std::string plan_table(const tune::Plan& plan) {
  std::vector<std::vector<std::string>> rows{{"RUN", "POINT", "REP", "AT"}};
  for (const auto& run : plan.runs)
    rows.push_back({std::to_string(rows.size()), std::to_string(run.design.point),
                    std::to_string(run.design.replication + 1), point_text(run.design.at)});
  return plan.counted + "\n\n" + columns(rows);
}

json experiment_json(const View& view) {
  const auto& job = view.jobs.front();
  const auto tasks = tune::measured_tasks(view, job.id);
  json rows = json::array();
  for (const auto& task : tasks) rows.push_back(task_json(task));
  return {{"design", job.tune->search.algorithm},
          {"replications", job.tune->warm_repetitions.value_or(1)},
          {"seed", job.tune->search.seed},
          {"wall_seconds", job.active.value},
          {"runs", rows}};
}

std::string experiment_table(const store::RunInfo& run, const View& view, bool details) {
  const auto tasks = tune::measured_tasks(view, 0);
  const auto runs = tune::measured_runs(tasks);
  std::string out = fmt::format("{} {}: {} runs measured{}\n", run.name, run.state, runs.size(),
                                run.reason.empty() ? "" : " (" + run.reason + ")");
  if (details) out += "\n" + runs_lines(tasks);
  return out + fmt::format("\n  run {}\n", run.id);
}

}  // namespace tandem::cli
