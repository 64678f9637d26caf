#include "cli/result.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/characterize_result.h"
#include "cli/tune_result.h"
#include "event/codec.h"
#include "measure/profile.h"
#include "tune/outcome.h"

namespace tandem::cli {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

Seconds trained(const TaskView& task) {
  Seconds sum;
  for (const auto& record : task.epochs) sum += record.seconds;
  return sum;
}

json energy_json(const TaskView& task) {
  return task.energy_source.empty() ? json(nullptr) : json(task.joules().value);
}

std::string number_text(double value) {
  return fmt::format("{:.4g}", value);
}

std::string metrics_text(const Metrics& metrics) {
  std::string out;
  for (const auto& [name, value] : metrics)
    out += fmt::format("{}{} {}", out.empty() ? "" : "  ", name, number_text(value));
  return out;
}

json epochs_json(const TaskView& task) {
  auto epochs = json::array();
  for (const auto& record : task.epochs)
    epochs.push_back(
        {{"epoch", record.epoch},
         {"attempt", record.attempt},
         {"metrics", record.metrics},
         {"seconds", record.seconds.value},
         {"startup", record.startup.value},
         {"joules", record.energy ? json(record.energy->joules.value) : json(nullptr)},
         {"energy_parts", parts_json(record.energy ? record.energy->parts : std::vector<EnergyPart>())},
         {"system", to_json(record.granted)},
         {"profile", record.profile.rates}});
  return epochs;
}

// Which of the counters in the profiles say something of their own.
std::vector<std::string> independent_counters(const TaskView& task) {
  std::vector<Profile> profiles;
  for (const auto& record : task.epochs) profiles.push_back(record.profile);
  return measure::independent(profiles);
}

const TaskView* first_task(const View& view) {
  return view.tasks.empty() ? nullptr : &view.tasks.front();
}

std::string row(const std::string& label, const std::string& value) {
  return fmt::format("  {:<10} {}\n", label, value);
}

std::string epoch_rows(const TaskView& task) {
  std::string out = "\n  epoch  attempt     time    energy  metrics\n";
  for (const auto& record : task.epochs)
    out +=
        fmt::format("  {:>5}  {:>7}  {:>7}  {:>8}  {}\n", record.epoch, record.attempt, text(record.seconds),
                    record.energy ? text(record.energy->joules) : "-", metrics_text(record.metrics));
  return out;
}

std::string quality_rows(const TaskView& task) {
  const EpochRecord& last = task.epochs.back();
  std::string out;
  if (const auto score = score_of(last.metrics)) {
    std::string value = number_text(score->value);
    if (const EpochRecord* best = best_epoch(task); best != &last)
      value +=
          fmt::format("   (best {} at epoch {})", number_text(score_of(best->metrics)->value), best->epoch);
    out += row(score->metric, value);
    for (const auto& [name, metric] : last.metrics)
      if (name == "loss" && name != score->metric) out += row(name, number_text(metric));
  }
  return out;
}

std::string failure_rows(const TaskView& task) {
  if (!task.last_failure || task.last_failure->last_output.empty()) return "";
  std::string out = "\n  last lines of its output:\n";
  std::size_t from = 0;
  const std::string& lines = task.last_failure->last_output;
  while (from < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', from), lines.size());
    out += "    | " + lines.substr(from, end - from) + "\n";
    from = end + 1;
  }
  return out;
}

}  // namespace

std::optional<Score> score_of(const Metrics& metrics) {
  for (const auto& [metric, higher] : {std::pair{"accuracy", true}, {"error", false}, {"loss", false}})
    if (auto found = metrics.find(metric); found != metrics.end())
      return Score{metric, found->second, higher};
  if (metrics.empty()) return std::nullopt;
  return Score{metrics.begin()->first, metrics.begin()->second, true};
}

const EpochRecord* best_epoch(const TaskView& task) {
  const EpochRecord* best = nullptr;
  for (const auto& record : task.epochs) {
    const auto now = score_of(record.metrics);
    if (!now) continue;
    const auto before = best ? score_of(best->metrics) : std::nullopt;
    if (!before || (now->higher_is_better ? now->value > before->value : now->value < before->value))
      best = &record;
  }
  return best;
}

Drawn drawn_by(const TaskView& task) {
  return {task.joules(), task.energy_source, task.energy_complete, task.energy_parts()};
}

std::string energy_text(const TaskView& task) {
  return energy_text(drawn_by(task));
}

json result_json(const store::RunInfo& run, const View& view, const fs::path& folder) {
  json result{{"run", run.id},
              {"kind", run.kind},
              {"name", run.name},
              {"state", run.state},
              {"reason", run.reason},
              {"folder", folder.string()},
              {"created", run.created.value}};
  if (is_tuning(view)) {
    result.update(tune_json(view, folder));
    return result;
  }
  if (is_experiment(view)) {
    result.update(experiment_json(run, view));
    return result;
  }
  if (!view.jobs.empty()) {
    const auto& job = view.jobs.front();
    result["hyper"] = to_json(job.spec.hyper);
    result["system"] = to_json(job.spec.system);
    result["epochs_wanted"] = job.spec.epochs;
    result["wall_seconds"] = job.active.value;
    result["seed"] = job.spec.seed;
  }
  const TaskView* task = first_task(view);
  result["metrics"] = task && !task->epochs.empty() ? json(task->epochs.back().metrics) : json::object();
  if (task) {
    const EpochRecord* best = best_epoch(*task);
    result["best"] = best ? json{{"epoch", best->epoch}, {"metrics", best->metrics}} : json(nullptr);
    result["train_seconds"] = trained(*task).value;
    result["joules"] = energy_json(*task);
    result["energy_source"] = task->energy_source.empty() ? json(nullptr) : json(task->energy_source);
    result["energy_complete"] = task->energy_complete;
    result["energy_parts"] = parts_json(task->energy_parts());
    result["attempts"] = task->attempt;
    result["epochs"] = epochs_json(*task);
    result["independent_counters"] = independent_counters(*task);
    if (task->last_failure)
      result["last_failure"] = {{"failure", name(task->last_failure->failure)},
                                {"detail", task->last_failure->detail},
                                {"last_output", task->last_failure->last_output}};
  }
  const auto model = model_file(folder, view);
  result["model"] = model ? json(model->string()) : json(nullptr);
  return result;
}

std::string result_table(const store::RunInfo& run, const View& view, const fs::path& folder, bool details) {
  if (is_tuning(view)) return tune_table(run, view, folder, details);
  if (is_experiment(view)) return experiment_table(run, view, {details, ::isatty(STDOUT_FILENO) != 0});
  const TaskView* task = first_task(view);
  const std::int64_t wanted = view.jobs.empty() ? 0 : view.jobs.front().spec.epochs;
  const std::int64_t done = task ? task->reported() : 0;
  std::string out = fmt::format("{} {}: {} of {} epochs{}\n", run.name, run.state, done, wanted,
                                run.reason.empty() ? "" : " (" + run.reason + ")");
  if (task && !task->epochs.empty()) {
    out += "\n" + quality_rows(*task);
    out += row("time", fmt::format("{}   ({} an epoch)", text(trained(*task)),
                                   text(trained(*task) / static_cast<double>(task->epochs.size()))));
    out += row("energy", energy_text(*task));
    out +=
        row("system", fmt::format("{}{}", text(task->granted),
                                  task->attempt > 1 ? fmt::format("   ({} attempts)", task->attempt) : ""));
  }
  if (const auto model = model_file(folder, view)) out += row("model", model->string());
  out += row("run", run.id);
  if (details) {
    out += row("folder", folder.string());
    if (!view.jobs.empty())
      for (const auto& [name, value] : view.jobs.front().spec.hyper) out += row(name, text(value));
    if (task && !task->epochs.empty()) out += epoch_rows(*task);
  }
  if (task && run.state == "failed") out += failure_rows(*task);
  return out;
}

std::optional<fs::path> model_file(const fs::path& run_folder, const View& view) {
  TaskId task = 0;
  if (is_experiment(view)) return std::nullopt;  // it has many, and none is the one
  if (is_tuning(view)) {
    const auto found = tune::outcome(view, 0);
    if (!found.best) return std::nullopt;
    task = found.trials[*found.best].task;
  }
  const fs::path folder = run_folder / fmt::format("task-{}", task);
  for (const char* name : {"model.pt", "model.ubj"})
    if (fs::exists(folder / name)) return folder / name;
  return std::nullopt;
}

}  // namespace tandem::cli
