// The page of a training run: metrics, time and energy by epoch.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/results.h"
#include "report/html.h"
#include "report/parts.h"
#include "report/result_table.h"
#include "report/svg.h"

namespace tandem::report {

using namespace app;
namespace {

std::string train_headline(const JobView& job, const TaskView* task) {
  std::string out = "<div class=\"facts\">\n";
  Seconds trained;
  if (task)
    for (const auto& record : task->epochs) trained += record.working();
  if (const EpochRecord* best = task ? best_epoch(*task) : nullptr) {
    const auto score = *score_of(best->metrics);
    out += fact("Best " + score.metric, number_text(score.value), fmt::format("epoch {}", best->epoch), true);
  }
  out += fact("Epochs", fmt::format("{} of {}", task ? task->reported() : 0, job.base().epochs));
  out +=
      fact("Training time", escape(text(trained)),
           task && !task->epochs.empty() ? escape(text(trained / static_cast<double>(task->epochs.size()))) +
                                               " an epoch, start-up not counted"
                                         : "");
  if (task) out += fact("Energy", energy_html(energy_of(*task)), escape(sources_text(energy_of(*task))));
  if (task)
    out += fact("System", escape(text(task->granted)), count_text(task->attempt, "attempt", "attempts"));
  out += "</div>\n<h3>Hyperparameters</h3><dl>";
  for (const auto& [name, value] : job.base().hyper)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>", escape(name, 60), escape(short_text(value)));
  return section("result", "Result", out + "</dl>\n");
}

using Series = std::map<std::string, Points>;

std::string epoch_plots(const Series& series, const std::map<std::string, std::string>& captions) {
  std::vector<std::string> all;
  std::int64_t number = 0;
  for (const auto& [label, points] : series) {
    std::vector<double> xs, ys;
    for (const auto& [x, y] : points) xs.push_back(x), ys.push_back(y);
    const auto caption = captions.find(label);
    Axis across = axis_for("epoch", xs);
    across.whole = true;
    Plot plot(label + " by epoch", across, axis_for(label, ys, false, caption != captions.end()));
    const std::string look = colour(number++);
    plot.line(points, look);
    for (const auto& [x, y] : points)
      plot.dot(x, y, look, fmt::format("epoch {:.0f}: {} {}", x, label, number_text(y)),
               points.size() > 60 ? 2 : 3.5);
    all.push_back(figure(plot.svg(), caption == captions.end() ? "" : caption->second));
  }
  return figures(all);
}

std::string train_epochs_table(const TaskView& task) {
  std::map<std::string, bool> names;
  for (const auto& record : task.epochs)
    for (const auto& [name, value] : record.metrics) names[name] = true;
  std::vector<std::string> headings{"epoch", "attempt", "time", "start-up", "energy", "system"};
  for (const auto& [name, there] : names) headings.push_back(name);
  std::vector<std::vector<Cell>> rows;
  for (const auto& record : task.epochs) {
    std::vector<Cell> row{number_cell(static_cast<double>(record.epoch)),
                          number_cell(record.attempt),
                          {escape(text(record.working())), fmt::format("{:.6g}", record.working().value)},
                          {escape(text(record.startup)), fmt::format("{:.6g}", record.startup.value)}};
    row.push_back(record.energy ? Cell{escape(text(record.energy->joules)),
                                       fmt::format("{:.6g}", record.energy->joules.value)}
                                : no_number());
    row.push_back(word_cell(text(record.granted)));
    for (const auto& [name, there] : names) {
      const auto found = record.metrics.find(name);
      row.push_back(found == record.metrics.end() ? Cell{"", {}} : number_cell(found->second));
    }
    rows.push_back(std::move(row));
  }
  return section("epochs", "Epochs", table(headings, rows));
}

}  // namespace

std::string train_body(const View& view) {
  if (view.jobs.empty())
    return section("result", "Result", nothing("The run ended before its job was journalled."));
  const TaskView* task = view.tasks.empty() ? nullptr : &view.tasks.front();
  std::string out = train_headline(view.jobs.front(), task);
  if (!task || task->epochs.empty()) {
    out += section("metrics", "By epoch", nothing("No epoch has ended."));
  } else {
    Series metrics, costs;
    for (const auto& record : task->epochs) {
      const auto epoch = static_cast<double>(record.epoch);
      for (const auto& [name, value] : record.metrics) metrics[name].emplace_back(epoch, value);
      costs["seconds an epoch"].emplace_back(epoch, record.working().value);
      if (record.energy) costs["joules an epoch"].emplace_back(epoch, record.energy->joules.value);
    }
    out += section("metrics", "Metrics by epoch",
                   metrics.empty() ? nothing("The program reported no metrics.") : epoch_plots(metrics, {}));
    out += section(
        "costs", "Time and energy by epoch",
        epoch_plots(costs,
                    {{"seconds an epoch", "Start-up is not counted."},
                     {"joules an epoch", fmt::format("Energy is {}: {}; with the start-up.",
                                                     how_known(energy_of(*task)), task->energy_source)}}) +
            (costs.size() == 1 ? nothing("Energy is unknown: no source (`tandem doctor` says why).") : ""));
    out += section("counters", "Counters", epoch_heat_map(*task, "this run"));
    out += train_epochs_table(*task);
  }
  if (task && task->last_failure) out += failures_section({task});
  return out;
}

}  // namespace tandem::report
