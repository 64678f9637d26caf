#include "tune/experiment_runs.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "tune/experiment_plan.h"

namespace tandem::tune {
namespace {

const std::set<std::string> kMoreIsBetter{"accuracy", "precision", "recall", "f1", "r2", "silhouette"};

bool is_cost_of_an_epoch(const std::string& metric) {
  return metric.starts_with("seconds_") || metric.ends_with("_per_second");
}

double mean_of(const TaskView& task, const std::string& metric) {
  double sum = 0;
  int count = 0;
  for (const auto& epoch : task.epochs)
    if (const auto found = epoch.metrics.find(metric); found != epoch.metrics.end())
      sum += found->second, ++count;
  return sum / std::max(count, 1);
}

// What it sent in all; nothing where an epoch does not say.
void add_bytes_out(const TaskView& task, Metrics& out) {
  double sum = 0;
  for (const auto& epoch : task.epochs) {
    const auto found = epoch.metrics.find(kBytesOut);
    if (found == epoch.metrics.end() || !(found->second >= 0)) {
      out.erase(kBytesOut);
      return;
    }
    sum += found->second;
  }
  out[kBytesOut] = sum;
}

void add_reported(const TaskView& task, Metrics& out) {
  for (const auto& [metric, value] : task.epochs.back().metrics)
    out[metric] = is_cost_of_an_epoch(metric) ? mean_of(task, metric) : value;
  const auto& first = task.epochs.front().metrics;
  if (const auto load = first.find("seconds_load"); load != first.end()) out["seconds_load"] = load->second;
  add_bytes_out(task, out);
}

void add_timed(const TaskView& task, Metrics& out) {
  double working = 0;
  for (const auto& epoch : task.epochs) working += epoch.working().value;
  out["train_seconds"] = working;
  out["epoch_seconds"] = working / static_cast<double>(task.epochs.size());
  out["startup_seconds"] = task.epochs.front().startup.value;
  if (!task.energy_source.empty() && task.energy_complete) out["joules"] = task.joules().value;
}

void add_counted(const TaskView& task, Metrics& out) {
  std::map<std::string, std::pair<double, double>> sums;  // rate times length, length
  for (const auto& epoch : task.epochs)
    for (const auto& [counter, rate] : epoch.profile.rates) {
      sums[counter].first += rate * epoch.working().value;
      sums[counter].second += epoch.working().value;
    }
  for (const auto& [counter, sum] : sums)
    if (sum.second > 0) out[counter] = sum.first / sum.second;
  if (out.contains("user-time") && out.contains("system-time"))
    out["cpu-time"] = out["user-time"] + out["system-time"];
}

std::string run_state(const TaskView& task) {
  if (task.alive || task.state == TaskState::waiting) return task.alive ? "running" : "waiting";
  if (task.state == TaskState::failed) return "failed";
  return task.reported() >= task.trial->epochs ? "finished" : "stopped";
}

// A plan that cannot be made has no runs.
std::vector<PlannedRun> runs_of(const JobView& job) {
  try {
    return plan_of(*job.as<spec::Experiment>()).runs;
  } catch (const UserError&) {
    return {};
  }
}

}  // namespace

const char* name(Level level) {
  switch (level) {
    case Level::application:
      return "application";
    case Level::platform:
      return "platform";
    case Level::infrastructure:
      return "infrastructure";
  }
  return "?";
}

Meaning meaning_of(const std::string& measured) {
  if (kMoreIsBetter.contains(measured)) return {Level::application, "1", true};
  if (measured == "seconds_per_thousand") return {Level::application, "s per 1000 records"};
  if (measured == "samples_per_second" || measured == "inference_per_second")
    return {Level::application, "records/s", true};
  if (measured.starts_with("seconds_") || measured.ends_with("_seconds")) return {Level::platform, "s"};
  if (measured == "joules") return {Level::infrastructure, "J"};
  if (measured == "task-clock") return {Level::infrastructure, "CPU ns/s"};
  if (measured == "resident-bytes" || measured == kBytesOut) return {Level::infrastructure, "B"};
  if (measured == "threads") return {Level::infrastructure, "1"};
  if (measured.starts_with("pressure-")) return {Level::infrastructure, "share of time"};
  if (measured.ends_with("-time")) return {Level::infrastructure, "CPU s/s"};
  if (measured.ends_with("-bytes") || measured.ends_with("-chars")) return {Level::infrastructure, "B/s"};
  if (measured.find('-') != std::string::npos) return {Level::infrastructure, "1/s"};
  return {Level::application, "1"};
}

std::vector<MeasuredTask> measured_tasks(const View& view, JobId id) {
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  const auto runs = runs_of(job);
  std::vector<MeasuredTask> out;
  for (const TaskId task_id : job.tasks) {
    const auto& task = view.tasks[static_cast<std::size_t>(task_id)];
    MeasuredTask row{.task = task_id, .run = static_cast<std::size_t>(task.trial->bracket)};
    row.replication = static_cast<std::size_t>(task.trial->rung);
    row.at = task.trial->point;
    if (row.run < runs.size()) {
      row.point = runs[row.run].design.point;
      row.varied = runs[row.run].design.varied;
    }
    row.job = !out.empty() && out.back().run == row.run ? out.back().job + 1 : 0;
    row.state = run_state(task);
    if (task.state == TaskState::failed && task.last_failure)
      row.reason = std::string(tandem::name(task.last_failure->failure)) + ": " + task.last_failure->detail;
    row.attempts = task.attempt;
    row.epochs = task.reported();
    row.epochs_wanted = task.trial->epochs;
    if (!task.epochs.empty()) {
      add_counted(task, row.measured);
      add_reported(task, row.measured);
      add_timed(task, row.measured);
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<MeasuredTask> measured_runs(const std::vector<MeasuredTask>& tasks) {
  std::vector<MeasuredTask> out;
  for (std::size_t from = 0, to = 0; from < tasks.size(); from = to) {
    for (to = from; to < tasks.size() && tasks[to].run == tasks[from].run;) ++to;
    const auto begin = tasks.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = tasks.begin() + static_cast<std::ptrdiff_t>(to);
    if (!std::all_of(begin, end, [](const MeasuredTask& task) { return task.whole(); })) continue;
    MeasuredTask row = tasks[from];
    for (auto task = begin + 1; task != end; ++task) {
      row.attempts = std::max(row.attempts, task->attempts);
      std::erase_if(row.measured, [&](const auto& one) { return !task->measured.contains(one.first); });
      for (auto& [measure, value] : row.measured) value += task->measured.at(measure);
    }
    for (auto& [measure, value] : row.measured) value /= static_cast<double>(to - from);
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace tandem::tune
