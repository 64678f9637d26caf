#include "app/results.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "event/codec.h"
#include "measure/profile.h"

namespace tandem::app {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

json task_energy_json(const TaskView& task) {
  return task.energy_source.empty() ? json(nullptr) : json(task.joules().value);
}

json epochs_json(const TaskView& task) {
  auto epochs = json::array();
  for (const auto& record : task.epochs)
    epochs.push_back(
        {{"epoch", record.epoch},
         {"attempt", record.attempt},
         {"metrics", metrics_json(record)},
         {"seconds", record.seconds.value},
         {"startup", record.startup.value},
         {"joules", record.energy ? json(record.energy->joules.value) : json(nullptr)},
         {"energy_parts", parts_json(record.energy ? record.energy->parts : std::vector<EnergyPart>())},
         {"system", tandem::to_json(record.granted)},
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

}  // namespace

Seconds training_time(const TaskView& task) {
  Seconds sum;
  for (const auto& record : task.epochs) sum += record.seconds;
  return sum;
}

std::optional<Score> score_of(const Metrics& metrics) {
  for (const auto& [metric, higher] : {std::pair{"accuracy", true}, {"error", false}, {"loss", false}})
    if (auto found = metrics.find(metric); found != metrics.end())
      return Score{metric, found->second, higher};
  if (metrics.empty()) return std::nullopt;
  return Score{metrics.begin()->first, metrics.begin()->second, true};
}

const EpochRecord* best_epoch(const TaskView& task) {
  Metrics any;  // an epoch may lack what others are judged by
  for (const auto& record : task.epochs) any.insert(record.metrics.begin(), record.metrics.end());
  const auto by = score_of(any);
  const EpochRecord* best = nullptr;
  for (const auto& record : task.epochs) {
    if (!by || !record.metrics.contains(by->metric)) continue;
    const double now = record.metrics.at(by->metric);
    const double before = best ? best->metrics.at(by->metric) : 0;
    if (!best || (by->higher_is_better ? now > before : now < before)) best = &record;
  }
  return best;
}

json metrics_json(const EpochRecord& record) {
  json out = record.metrics;
  if (out.is_null()) out = json::object();
  for (const auto& name : record.not_finite) out[name] = nullptr;
  return out;
}

EnergyTotal energy_of(const TaskView& task) {
  return {task.joules(), task.energy_source, task.energy_complete, task.energy_parts()};
}

json result_json(const store::RunInfo& run, const View& view, const TaskFolders& folder) {
  json result{{"run", run.id},
              {"kind", run.kind},
              {"name", run.name},
              {"state", run.state},
              {"reason", run.reason},
              {"folder", folder.run.string()},
              {"created", run.created.value}};
  const auto results = view.jobs.empty() ? train_json : row_of(view.jobs.front().spec).results;
  result.update(results(run, view, folder));
  return result;
}

std::vector<std::string> unread_hyper(const JobView& job) {
  if (job.hyper_read.empty()) return {};
  std::set<std::string> names;
  for (const auto& [name, value] : job.base().hyper) names.insert(name);
  if (const auto* tune = job.as<spec::TuneJob>())
    for (const auto& parameter : tune->hyper.parameters) names.insert(parameter.name);
  const auto& command = job.base().program.command;
  const auto looked_at = [&](std::string name) {  // itself, or the group it is in
    for (auto dot = name.rfind('.'); !job.hyper_read.contains(name); dot = name.rfind('.')) {
      if (dot == std::string::npos) return false;
      name.resize(dot);
    }
    return true;
  };
  std::erase_if(names, [&](const std::string& name) {
    return looked_at(name) || std::any_of(command.begin(), command.end(), [&](const auto& word) {
             return word.find("{" + name + "}") != std::string::npos;
           });
  });
  return {names.begin(), names.end()};
}

std::string unread_text(const JobView& job) {
  const std::vector<std::string> read(job.hyper_read.begin(), job.hyper_read.end());
  std::string out;
  for (const auto& name : unread_hyper(job))
    out += fmt::format("{}the program has never read hyperparameter '{}'{}", out.empty() ? "" : "; ",
                       printable_line(name, 100), did_you_mean(name, read));
  return out.empty() ? "" : out + "; it reads " + printable_line(join(read), 300);
}

json train_json(const store::RunInfo&, const View& view, const TaskFolders& folder) {
  json result = json::object();
  if (!view.jobs.empty()) {
    const auto& job = view.jobs.front();
    result["hyper"] = tandem::to_json(job.base().hyper);
    result["system"] = tandem::to_json(job.base().system);
    result["epochs_wanted"] = job.base().epochs;
    result["wall_seconds"] = job.active.value;
    result["seed"] = job.base().seed;
    result["unread"] = unread_hyper(job);
  }
  const TaskView* task = first_task(view);
  result["metrics"] = task && !task->epochs.empty() ? metrics_json(task->epochs.back()) : json::object();
  if (task) {
    const EpochRecord* best = best_epoch(*task);
    result["best"] = best ? json{{"epoch", best->epoch}, {"metrics", metrics_json(*best)}} : json(nullptr);
    result["train_seconds"] = training_time(*task).value;
    result["joules"] = task_energy_json(*task);
    result["energy_source"] = task->energy_source.empty() ? json(nullptr) : json(task->energy_source);
    result["energy_complete"] = task->energy_complete;
    result["energy_parts"] = parts_json(task->energy_parts());
    result["attempts"] = task->attempt;
    result["preloaded"] = task->preloaded;
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

Progress train_progress(const View& view, const JobView& job) {
  const auto* task = job.tasks.empty() ? nullptr : &view.tasks[static_cast<std::size_t>(job.tasks.front())];
  return {task ? task->reported() : 0, job.base().epochs, "epochs"};
}

std::optional<fs::path> model_file(const TaskFolders& folders, const View& view) {
  const auto model_task = view.jobs.empty() ? nullptr : row_of(view.jobs.front().spec).model_task;
  const auto task = model_task ? model_task(view) : std::nullopt;
  if (!task) return std::nullopt;
  const fs::path folder = folders.of(*task);
  for (const char* name : {"model.pt", "model.ubj"})
    if (fs::is_regular_file(fs::symlink_status(folder / name))) return folder / name;
  return std::nullopt;
}

}  // namespace tandem::app
