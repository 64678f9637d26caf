// The page of an experiment: what matters, how sure that is, what tuning at one level and at both would give,
// and how the measurements spread.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/experiment_results.h"
#include "app/tune_results.h"
#include "report/experiment_table.h"
#include "report/html.h"
#include "report/parts.h"
#include "report/svg.h"
#include "report/tune_table.h"

namespace tandem::report {

using namespace app;
namespace {

namespace study = characterize;

std::string unit_label(const std::string& response, const std::string& unit) {
  return unit.empty() || unit == "1" ? response : fmt::format("{} ({})", response, unit);
}

std::string experiment_headline(const JobView& job, const Findings& found) {
  const auto& experiment = *job.as<spec::Experiment>();
  std::string boxes;
  boxes += fact("runs measured", escape(std::to_string(found.whole_runs)), escape(left_out_text(found)));
  boxes += fact("design", escape(experiment.design),
                escape(fmt::format("{} replications, seed {}", experiment.replications, experiment.seed)));
  boxes += fact("time", escape(text(job.active)));
  std::vector<std::string> high;
  for (const auto& impact : found.impacts)
    if (impact.grade == study::Grade::high && impact.response == "train_seconds")
      high.push_back(impact.factor);
  std::string listed;
  for (const auto& factor : high) listed += (listed.empty() ? "" : ", ") + factor;
  boxes += fact("high impact on training time", escape(listed.empty() ? "none" : listed), {}, true);
  std::string notes;
  for (const auto& note : found.notes) notes += "<p class=\"note\">" + escape(note) + "</p>\n";
  return section("result", "Result", "<div class=\"facts\">" + boxes + "</div>\n" + notes);
}

Cell grade_cell(const study::Impact* impact) {
  if (!impact || !impact->grade) return no_number();
  const std::string word = name(*impact->grade);
  std::string levels;
  for (const auto& level : impact->levels)
    levels += fmt::format("{}: {}\n", level.level, mean_text(level.mean));
  if (!impact->note.empty()) levels += impact->note + "\n";
  if (impact->averaged) levels += "over whatever the other factors were\n";
  return {fmt::format("<span class=\"grade {}\"{}>{} {}</span>", word, tip(levels + "p " + p_text(impact->p)),
                      word, share_text(*impact->variation)),
          fmt::format("{:.6g}", *impact->variation)};
}

std::string impact_section(const Findings& found) {
  std::vector<std::string> headings{"factor"};
  for (const auto& response : found.analysed) headings.push_back(response);
  std::vector<std::vector<Cell>> rows;
  for (const auto& factor : found.study.factors) {
    std::vector<Cell> row{word_cell(factor.name)};
    for (const auto& response : found.analysed) {
      const auto impact = std::find_if(
          found.impacts.begin(), found.impacts.end(),
          [&](const study::Impact& one) { return one.factor == factor.name && one.response == response; });
      row.push_back(grade_cell(impact == found.impacts.end() ? nullptr : &*impact));
    }
    rows.push_back(std::move(row));
  }
  return section(
      "impact", "Impact",
      table(headings, rows) +
          "<p class=\"note\">The difference between the highest and the lowest mean, as a share of the "
          "highest. Above 20 % it is high, from 10 % medium; of a model's quality above 5 % and from "
          "1 %.</p>\n");
}

// The means of a factor's levels with their intervals.
std::string effect_plot(const study::Impact& impact, const std::string& unit) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const auto& level : impact.levels) {
    names.push_back(level.level);
    values.push_back(level.mean.value - level.mean.reach.value_or(0));
    values.push_back(level.mean.value + level.mean.reach.value_or(0));
  }
  Plot plot(impact.response + " by " + impact.factor, word_axis(impact.factor, names),
            axis_for(unit_label(impact.response, unit), values));
  Points means;
  for (std::size_t i = 0; i < impact.levels.size(); ++i) {
    const auto& mean = impact.levels[i].mean;
    const auto x = static_cast<double>(i);
    means.emplace_back(x, mean.value);
    if (mean.reach) plot.whisker(x, mean.value - *mean.reach, mean.value + *mean.reach, "c0");
    plot.dot(x, mean.value, "c0", fmt::format("{}\n{}", names[i], mean_text(mean)));
  }
  plot.line(means, "c0");
  return figure(plot.svg(), fmt::format("{} by {}: p {}", impact.response, impact.factor, p_text(impact.p)));
}

std::string effects_section(const Findings& found) {
  std::vector<std::string> all;
  for (const auto& impact : found.impacts) {
    const bool worth = impact.grade && *impact.grade != study::Grade::low && impact.levels.size() > 1;
    if (worth) all.push_back(effect_plot(impact, study::response_named(found.study, impact.response).unit));
  }
  return section("effects", "Effects",
                 all.empty() ? nothing("Nothing had more than a low impact.")
                             : figures(all) +
                                   "<p class=\"note\">Means with 95 % intervals, where the impact is not "
                                   "low.</p>\n");
}

std::string anova_section(const Findings& found) {
  std::string body;
  for (const auto& analysis : found.analyses) {
    std::vector<std::vector<Cell>> rows;
    for (const auto& row : analysis.table.rows)
      rows.push_back({word_cell(row.term), number_cell(static_cast<double>(row.df)),
                      row.f ? number_cell(*row.f) : no_number(),
                      row.p ? Cell{escape(p_text(row.p)), fmt::format("{:.6g}", *row.p)} : no_number(),
                      Cell{escape(share_text(row.share)), fmt::format("{:.6g}", row.share)}});
    rows.push_back({word_cell("residual"), number_cell(static_cast<double>(analysis.table.residual_df)),
                    no_number(), no_number(), no_number()});
    const auto& unit = study::response_named(found.study, analysis.response).unit;
    body += fmt::format("<h3>{}</h3>\n", escape(unit_label(analysis.response, unit)));
    body += table({"term", "df", "F", "p", "explains"}, rows);
    std::vector<std::vector<Cell>> slopes;
    for (const auto& one : analysis.model.coefficients)
      if (one.sure)
        slopes.push_back({word_cell(one.name == "1" ? "intercept" : one.name), number_cell(one.estimate),
                          number_cell(one.sure->t),
                          Cell{escape(p_text(one.sure->p)), fmt::format("{:.6g}", one.sure->p)},
                          number_cell(one.sure->low), number_cell(one.sure->high)});
    if (!slopes.empty()) body += table({"slope of", "estimate", "t", "p", "95 % from", "to"}, slopes);
    for (const auto& note : analysis.table.notes) body += "<p class=\"note\">" + escape(note) + "</p>\n";
  }
  return section("anova", "ANOVA", body.empty() ? nothing("Nothing varied that could be analysed.") : body);
}

std::string levels_plot(const study::Comparison& comparison, const std::string& unit) {
  std::vector<std::string> names;
  std::vector<double> values{0};
  for (const auto& best : comparison.best) {
    names.push_back(level_word(best.strategy));
    if (best.settings == 0) continue;
    for (const double side : {-1, 1}) values.push_back(best.mean.value + side * best.mean.reach.value_or(0));
  }
  Plot plot(comparison.response + " by what is tuned", word_axis("tuned", names),
            axis_for(unit_label(comparison.response, unit), values, false, true));
  for (std::size_t i = 0; i < comparison.best.size(); ++i) {
    const auto& best = comparison.best[i];
    if (best.settings == 0) continue;
    const auto x = static_cast<double>(i);
    if (best.mean.reach)
      plot.whisker(x, best.mean.value - *best.mean.reach, best.mean.value + *best.mean.reach,
                   colour(static_cast<std::int64_t>(i)));
    plot.dot(x, best.mean.value, colour(static_cast<std::int64_t>(i)),
             fmt::format("{}: {}\n{}", names[i], mean_text(best.mean), point_text(best.at)), 5);
  }
  return figure(plot.svg(), comparison.response);
}

std::string levels_section(const Findings& found) {
  std::vector<std::string> all;
  for (const auto& comparison : found.levels)
    all.push_back(levels_plot(comparison, study::response_named(found.study, comparison.response).unit));
  if (all.empty())
    return section("levels", "Tuning at one level and at both", nothing("No run was at the usual load."));
  return section("levels", "Tuning at one level and at both",
                 figures(all) +
                     "<p class=\"note\">The best mean that hyperparameters alone, system parameters alone "
                     "and both together reach, with its 95 % interval.</p>\n");
}

std::string boxes_section(const Findings& found) {
  std::map<std::pair<std::string, std::string>, std::vector<const study::PhaseBox*>> groups;
  for (const auto& box : found.boxes) groups[{box.phase, box.unit}].push_back(&box);
  std::vector<std::string> all;
  for (const auto& [key, boxes] : groups) {
    std::vector<std::string> names;
    std::vector<double> values;
    for (const auto* box : boxes) {
      names.push_back(box->response);
      for (const double value : {box->box.whisker_low, box->box.whisker_high}) values.push_back(value);
      values.insert(values.end(), box->box.outside.begin(), box->box.outside.end());
    }
    const std::string phase = key.first.empty() ? "whole run" : key.first;
    Plot plot("Spread, " + phase, word_axis(phase, names), axis_for(key.second, values));
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const auto& box = boxes[i]->box;
      const auto x = static_cast<double>(i);
      plot.box(x, 0.25, {box.whisker_low, box.low, box.median, box.high, box.whisker_high}, "c0",
               fmt::format("{}: median {}, half between {} and {}, {} runs", names[i],
                           number_text(box.median), number_text(box.low), number_text(box.high), box.count));
      for (const double value : box.outside) plot.dot(x, value, "c3", number_text(value), 2.5);
    }
    all.push_back(figure(plot.svg(), phase));
  }
  return section("boxes", "Spread by phase", all.empty() ? nothing("Nothing was measured.") : figures(all));
}

std::string cost_section(const Findings& found, const AnalysisOptions& looking) {
  std::string words = escape(threefold_text(found), 4096);
  return section("cost", "Cost",
                 fmt::format("<p>${:g} an hour for {:g} cores, ${:g} a GB out (bytes out: {}).</p>\n<pre>{}"
                             "</pre>\n",
                             looking.prices.dollars_per_hour, looking.prices.cores,
                             looking.prices.dollars_per_gb_out, bytes_out_text(found), words));
}

std::string runs_section(const Findings& found) {
  std::vector<std::string> headings{"run", "replication", "job", "state", "attempts"};
  for (const auto& factor : found.study.factors) headings.push_back(factor.name);
  for (const auto& response : found.analysed) headings.push_back(response);
  std::vector<std::vector<Cell>> rows;
  for (const auto& task : found.tasks) {
    std::vector<Cell> row{number_cell(static_cast<double>(task.run + 1)),
                          number_cell(static_cast<double>(task.replication + 1)), number_cell(task.job + 1),
                          word_cell(task.state), number_cell(task.attempts)};
    for (const auto& factor : found.study.factors) {
      const auto value = task.at.find(factor.name);
      row.push_back(value == task.at.end() ? no_number() : word_cell(short_text(value->second)));
    }
    for (const auto& response : found.analysed) {
      const auto value = task.measured.find(response);
      row.push_back(value == task.measured.end() ? no_number() : number_cell(value->second));
    }
    rows.push_back(std::move(row));
  }
  return section("runs", "Runs", table(headings, rows));
}

}  // namespace

std::string experiment_body(const store::RunInfo& run, const View& view) {
  const auto looking = analysis_options_of(run);
  const auto& job = view.jobs.front();
  const auto found = findings_of(view, job.id, looking);
  std::string out = experiment_headline(job, found);
  if (!found.study.runs.empty())
    out += impact_section(found) + effects_section(found) + anova_section(found) + levels_section(found) +
           cost_section(found, looking) + boxes_section(found);
  std::vector<const TaskView*> failed;
  for (const TaskId id : job.tasks)
    if (const auto& task = view.tasks[static_cast<std::size_t>(id)]; task.last_failure)
      failed.push_back(&task);
  return out + runs_section(found) + (failed.empty() ? "" : failures_section(failed));
}

}  // namespace tandem::report
