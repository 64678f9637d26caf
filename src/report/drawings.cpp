#include "report/drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/results.h"
#include "report/html.h"
#include "report/parts.h"
#include "report/result_table.h"
#include "report/text_table.h"
#include "report/tune_table.h"

namespace tandem::report {
namespace {

using nlohmann::json;

// What can be said in a word: numbers and texts of the results, by name.
std::vector<std::pair<std::string, std::string>> plain_results(const store::RunInfo& run, const View& view,
                                                               const app::TaskFolders& folders) {
  std::vector<std::pair<std::string, std::string>> out;
  const json results = app::row_of(view.jobs.front().spec).results(run, view, folders);
  for (const auto& [name, value] : results.items()) {
    if (value.is_string()) out.emplace_back(name, value.get<std::string>());
    if (value.is_number_integer() || value.is_boolean()) out.emplace_back(name, value.dump());
    if (value.is_number_float()) out.emplace_back(name, number_text(value.get<double>()));
  }
  return out;
}

std::string task_time(const TaskView& task) {
  const bool ran = task.started_at.value > 0 && task.ended_at > task.started_at;
  return ran ? text(task.ended_at - task.started_at) : "-";
}

std::string progress_text(const View& view) {
  const auto at = app::row_of(view.jobs.front().spec).progress(view, view.jobs.front());
  return at.of > 0 ? fmt::format("{} of {} {}", at.done, at.of, at.unit)
                   : fmt::format("{} {}", at.done, at.unit);
}

std::string any_table(const store::RunInfo& run, const View& view, const app::TaskFolders& folders,
                      const TableStyle& style) {
  std::string out = fmt::format("{} {}: {}{}\n\n", run.name, run.state, progress_text(view),
                                run.reason.empty() ? "" : " (" + run.reason + ")");
  for (const auto& [name, value] : plain_results(run, view, folders))
    out += fmt::format("  {:<16} {}\n", name, value);
  out += fmt::format("  {:<16} {}\n", "run", run.id);
  if (!style.details) return out;
  std::vector<std::vector<std::string>> rows{{"TASK", "STATE", "ATTEMPTS", "TIME"}};
  for (const auto& task : view.tasks)
    rows.push_back(
        {std::to_string(task.id), name(task.state), std::to_string(task.attempt), task_time(task)});
  return out + "\n" + columns(rows);
}

std::string any_body(const store::RunInfo& run, const View& view) {
  std::string facts = "<div class=\"facts\">\n" + fact("Progress", escape(progress_text(view)));
  for (const auto& [name, value] : plain_results(run, view, std::filesystem::path()))
    facts += fact(escape(name, 60), escape(value, 200));
  std::vector<std::vector<Cell>> rows;
  for (const auto& task : view.tasks)
    rows.push_back({number_cell(task.id), word_cell(name(task.state)), number_cell(task.attempt),
                    word_cell(task_time(task)), word_cell(text(task.granted))});
  return section("result", "Result", facts + "</div>\n") +
         section("tasks", "Tasks", table({"task", "state", "attempts", "time", "system"}, rows));
}

std::vector<Drawing>& drawings() {
  static std::vector<Drawing> rows{
      {"train", "training run", train_table,
       [](const store::RunInfo&, const View& view) { return train_body(view); }},
      {"tune", "tuning run",
       [](const store::RunInfo& run, const View& view, const app::TaskFolders& folders,
          const TableStyle& style) { return tune_table(run, view, folders, style.details); },
       [](const store::RunInfo&, const View& view) { return tune_body(view); }},
      {"characterize", "experiment, run",
       [](const store::RunInfo& run, const View& view, const app::TaskFolders&, const TableStyle& style) {
         return experiment_table(run, view, style);
       },
       experiment_body}};
  return rows;
}

}  // namespace

Drawing drawing_of(const View& view) {
  if (view.jobs.empty()) return drawings().front();
  const auto& kind = spec::kind_of(view.jobs.front().spec);
  const auto own =
      std::find_if(drawings().begin(), drawings().end(), [&](const auto& d) { return d.kind == kind; });
  return own != drawings().end() ? *own : Drawing{kind, kind + " run", any_table, any_body};
}

void add_drawing(Drawing drawing) {
  drawings().push_back(std::move(drawing));
}

}  // namespace tandem::report
