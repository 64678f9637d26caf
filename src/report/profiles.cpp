// What the counters saw: by epoch, and which trials are the same workload class.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/text.h"
#include "report/html.h"
#include "report/parts.h"
#include "report/svg.h"
#include "stats/numeric/pca.h"
#include "tune/similarity.h"
#include "tune/system_tuner.h"

namespace tandem::report {

using namespace app;
namespace {

constexpr std::size_t kMostProfileColumns = 80, kMostCounters = 70, kMostPoints = 1500;

struct Column {
  std::string name;
  const Metrics* rates = nullptr;
};

// Rows for the counters that counted anything; the names of the others are put into `silent`.
std::vector<HeatRow> rows_of(const std::vector<Column>& columns, std::vector<std::string>& silent) {
  std::set<std::string> names;
  for (const auto& column : columns)
    for (const auto& [name, rate] : *column.rates) names.insert(name);
  std::vector<HeatRow> rows;
  for (const auto& name : names) {
    HeatRow row{name, {}, {}};
    bool any = false;
    for (const auto& column : columns) {
      const auto found = column.rates->find(name);
      const bool there = found != column.rates->end();
      any |= there && found->second != 0;
      row.values.push_back(there ? found->second : std::numeric_limits<double>::quiet_NaN());
      row.texts.push_back(there ? rate_text(name, found->second) : "not measured");
    }
    if (!any)
      silent.push_back(name);
    else if (rows.size() < kMostCounters)
      rows.push_back(std::move(row));
  }
  return rows;
}

std::string heat_figure(const std::vector<Column>& columns, const std::string& title,
                        const std::string& label, const std::string& caption) {
  std::vector<std::string> silent, names;
  const auto rows = rows_of(columns, silent);
  if (rows.empty()) return nothing("No counter counted anything.");
  for (const auto& column : columns) names.push_back(column.name);
  std::string more = caption + " Each row for itself: red above its mean, blue below; rates are per second.";
  if (!silent.empty()) more += " Always 0: " + join(silent) + ".";
  return figure(heat_map(title, names, rows, label), more, true);
}

std::vector<Column> first_epochs(const Tuned& run) {
  std::vector<Column> columns;
  for (const auto& task : run.view.tasks)
    if (task.job == run.job.id && !task.epochs.empty() && !task.epochs.front().profile.rates.empty())
      columns.push_back({fmt::format("trial {}", task.id), &task.epochs.front().profile.rates});
  return columns;
}

// Each trial's first epoch in the configuration most trials have one in.
struct Profiled {
  Resources reference;
  std::vector<const TaskView*> tasks;
  std::vector<KnownWorkload> workloads;
  std::size_t earlier = 0;  // of the workload classes: known from earlier runs, at the end
  std::size_t left_out = 0;
};

const EpochRecord* first_in(const TaskView& task, const Resources& system) {
  for (const auto& record : task.epochs)
    if (record.granted.cores == system.cores && record.granted.speed == system.speed &&
        !record.profile.rates.empty())
      return &record;
  return nullptr;
}

Profiled profiled(const Tuned& run) {
  std::map<std::pair<int, double>, std::size_t> seen;
  std::vector<const TaskView*> with_profile;
  for (const auto& task : run.view.tasks) {
    if (task.job != run.job.id || !task.trial) continue;
    std::set<std::pair<int, double>> mine;
    for (const auto& record : task.epochs)
      if (!record.profile.rates.empty()) mine.emplace(record.granted.cores, record.granted.speed);
    for (const auto& config : mine) ++seen[config];
    if (!mine.empty()) with_profile.push_back(&task);
  }
  Profiled out;
  std::size_t most = 0;
  for (const auto& [config, count] : seen)
    if (count > most) most = count, out.reference = {config.first, 0, config.second};
  const std::string machine = run.view.nodes.empty() ? "" : run.view.nodes.front().type;
  for (const auto* task : with_profile) {
    const auto* record = first_in(*task, out.reference);
    if (!record || out.workloads.size() >= kMostPoints) {
      ++out.left_out;
      continue;
    }
    out.tasks.push_back(task);
    out.workloads.push_back(
        {machine, tune::batch_of(task->trial->hyper), out.reference, record->profile.rates, {}, {}});
  }
  for (const auto& known : run.view.known)
    if (known.machine == machine && known.reference.cores == out.reference.cores &&
        known.reference.speed == out.reference.speed && out.earlier < 200)
      out.workloads.push_back(known), ++out.earlier;
  return out;
}

std::string work_key(const std::set<std::int32_t>& workloads, bool earlier) {
  std::string out = "<div class=\"key\">";
  for (const auto workload : workloads)
    out += fmt::format("<span class=\"{}\"><i></i>{}</span>", workload < 0 ? "c7" : colour(workload),
                       workload < 0 ? "no class assigned" : fmt::format("workload class {}", workload));
  if (earlier)
    out +=
        "<span><svg viewBox=\"0 0 22 12\"><circle class=\"dot ring c7\" cx=\"11\" cy=\"6\" "
        "r=\"4.5\"/></svg>known "
        "from earlier runs</span>";
  return out + "</div>\n";
}

}  // namespace

std::string epoch_heat_map(const TaskView& task, const std::string& whose) {
  std::vector<Column> columns;
  for (const auto& record : task.epochs)
    if (!record.profile.rates.empty() && columns.size() < kMostProfileColumns)
      columns.push_back({fmt::format("epoch {}", record.epoch), &record.profile.rates});
  if (columns.empty())
    return nothing("No epoch has a profile: nothing was counted (`tandem doctor` says what can be).");
  if (columns.size() == 1) return nothing("One epoch only: there is nothing to compare it with.");
  return heat_figure(
      columns, "counters by epoch", "epoch",
      fmt::format("Counters by epoch of {}{}.", whose,
                  columns.size() < task.epochs.size() ? fmt::format(", the first {}", columns.size()) : ""));
}

std::string counters_section(const Tuned& run) {
  std::string out;
  const TaskView* best = run.best_task();
  if (best && best->epochs.size() > 1)
    out += epoch_heat_map(*best, fmt::format("the best trial ({})", best->id));
  auto columns = first_epochs(run);
  const std::size_t all = columns.size();
  if (all > kMostProfileColumns) {
    std::vector<Column> some;
    for (std::size_t i = 0; i < kMostProfileColumns; ++i)
      some.push_back(columns[i * all / kMostProfileColumns]);
    columns = std::move(some);
  }
  if (columns.size() > 1)
    out += heat_figure(columns, "counters of the trials' first epochs", "trial",
                       fmt::format("Counters of the first epoch of {} trials{}.", columns.size(),
                                   all > columns.size() ? fmt::format(", an even sample of {}", all) : ""));
  if (out.empty())
    out = nothing(all == 0 ? "No epoch has a profile: nothing was counted (`tandem doctor` says what can be)."
                           : "One profile only: there is nothing to compare it with.");
  return section("counters", "Counters", out);
}

std::string clusters_section(const Tuned& run) {
  const std::string title = "Workload classes";
  const Profiled profiles = profiled(run);
  if (profiles.workloads.size() < 3)
    return section("clusters", title,
                   nothing(fmt::format("{} in one configuration; a picture needs three.",
                                       count_text(static_cast<std::int64_t>(profiles.workloads.size()),
                                                  "profile", "profiles"))));
  const auto features = tune::features(profiles.workloads);
  if (features.names.size() < 2)
    return section("clusters", title,
                   nothing("The profiles have fewer than two counters in common that count anything."));
  const auto plane = stats::principal_components(features.rows, 2);
  std::vector<double> xs, ys;
  for (const auto& point : plane.points) xs.push_back(point[0]), ys.push_back(point[1]);
  const PlotSize size{440, 300, 58, 14, 12, 42};
  Axis x = axis_for(fmt::format("first component ({:.0f} % of the variance)", plane.shares[0] * 100), xs);
  Axis y = axis_for(fmt::format("second component ({:.0f} %)", plane.shares[1] * 100), ys);
  same_scale(x, y, size);
  Plot plot("profiles of the trials", x, y, size);
  std::set<std::int32_t> workloads;
  for (std::size_t i = profiles.tasks.size(); i < profiles.workloads.size(); ++i)
    plot.dot(xs[i], ys[i], "c7 ring",
             fmt::format("known from an earlier run, batch {}", number_text(profiles.workloads[i].batch)), 5);
  for (std::size_t i = 0; i < profiles.tasks.size(); ++i) {
    const auto& task = *profiles.tasks[i];
    workloads.insert(task.workload);
    plot.dot(xs[i], ys[i], task.workload < 0 ? "c7" : colour(task.workload),
             fmt::format("{}\nwork {}, batch {}", run.about(task),
                         task.workload < 0 ? "not assigned" : std::to_string(task.workload),
                         number_text(profiles.workloads[i].batch)),
             4);
  }
  const std::string caption = fmt::format(
      "Profiles of {} trials on {}{}, as seen along the two directions in which their {} features differ "
      "most ({:.0f} % of "
      "the variance). Features are logarithms of counts per CPU second in units of how much they vary "
      "between epochs; "
      "trials of one colour shared what was learned about cores, which only those of one batch size do.{}",
      profiles.tasks.size(), text(profiles.reference),
      profiles.earlier > 0 ? " and " +
                                 count_text(static_cast<std::int64_t>(profiles.earlier), "workload class",
                                            "workload classes") +
                                 " of earlier runs"
                           : "",
      features.names.size(), (plane.shares[0] + plane.shares[1]) * 100,
      profiles.left_out > 0
          ? fmt::format(" {} trials without an epoch there are left out.", profiles.left_out)
          : "");
  return section("clusters", title,
                 work_key(workloads, profiles.earlier > 0) + figures({figure(plot.svg(), caption)}) +
                     "<p class=\"sub\">Features: " + escape(join(features.names)) + ".</p>\n");
}

}  // namespace tandem::report
