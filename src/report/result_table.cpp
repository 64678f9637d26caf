#include "report/result_table.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/text.h"
#include "report/drawings.h"
#include "report/energy_text.h"

namespace tandem::report {
namespace fs = std::filesystem;
using namespace app;
namespace {

const TaskView* first_task(const View& view) {
  return view.tasks.empty() ? nullptr : &view.tasks.front();
}

std::string metric_number(double value) {
  return fmt::format("{:.4g}", value);
}

std::string metrics_text(const EpochRecord& record) {
  std::string out;
  for (const auto& [name, value] : record.metrics)
    out += fmt::format("{}{} {}", out.empty() ? "" : "  ", name, metric_number(value));
  for (const auto& name : record.not_finite) out += fmt::format("{}{} null", out.empty() ? "" : "  ", name);
  return out;
}

std::string result_row(const std::string& label, const std::string& value) {
  return fmt::format("  {:<10} {}\n", label, value);
}

std::string epoch_rows(const TaskView& task) {
  std::string out = "\n  epoch  attempt     time    energy  metrics\n";
  for (const auto& record : task.epochs)
    out +=
        fmt::format("  {:>5}  {:>7}  {:>7}  {:>8}  {}\n", record.epoch, record.attempt, text(record.seconds),
                    record.energy ? text(record.energy->joules) : "-", metrics_text(record));
  return out;
}

std::string quality_rows(const TaskView& task) {
  const EpochRecord& last = task.epochs.back();
  std::string out;
  if (const auto score = score_of(last.metrics)) {
    std::string value = metric_number(score->value);
    const EpochRecord* best = best_epoch(task);
    if (best != &last && best->metrics.contains(score->metric))
      value +=
          fmt::format("   (best {} at epoch {})", metric_number(best->metrics.at(score->metric)), best->epoch);
    out += result_row(score->metric, value);
    for (const auto& [name, metric] : last.metrics)
      if (name == "loss" && name != score->metric) out += result_row(name, metric_number(metric));
  }
  return out;
}

std::string task_failure_rows(const TaskView& task) {
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

std::string energy_text(const TaskView& task) {
  return energy_text(energy_of(task));
}

std::string result_table(const store::RunInfo& run, const View& view, const app::TaskFolders& folder,
                         bool details, bool colour) {
  return drawing_of(view).table(run, view, folder, {details, colour});
}

std::string train_table(const store::RunInfo& run, const View& view, const app::TaskFolders& folder,
                        const TableStyle& style) {
  const TaskView* task = first_task(view);
  const std::int64_t wanted = view.jobs.empty() ? 0 : view.jobs.front().base().epochs;
  const std::int64_t done = task ? task->reported() : 0;
  std::string out = fmt::format("{} {}: {} of {}{}\n", run.name, run.state, done, counted(wanted, "epoch"),
                                run.reason.empty() ? "" : " (" + run.reason + ")");
  if (task && !task->epochs.empty()) {
    out += "\n" + quality_rows(*task);
    out += result_row("time",
                      fmt::format("{}   ({} an epoch)", text(training_time(*task)),
                                  text(training_time(*task) / static_cast<double>(task->epochs.size()))));
    out += result_row("energy", energy_text(*task));
    out += result_row("system",
                      fmt::format("{}{}", text(task->granted),
                                  task->attempt > 1 ? fmt::format("   ({} attempts)", task->attempt) : ""));
  }
  if (const auto model = model_file(folder, view)) out += result_row("model", model->string());
  out += result_row("run", run.id);
  if (style.details) {
    out += result_row("folder", folder.run.string());
    if (!view.jobs.empty())
      for (const auto& [name, value] : view.jobs.front().base().hyper) out += result_row(name, text(value));
    if (task && !task->epochs.empty()) out += epoch_rows(*task);
  }
  if (task && run.state == "failed") out += task_failure_rows(*task);
  if (!view.jobs.empty())
    if (const auto unread = unread_text(view.jobs.front()); !unread.empty()) out += "\n  warning: " + unread + "\n";
  return out;
}

}  // namespace tandem::report
