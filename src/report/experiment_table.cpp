// The tables of an experiment for a person at a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/experiment_results.h"
#include "app/tune_results.h"
#include "base/counted.h"
#include "base/text.h"
#include "report/experiment_table.h"
#include "report/html.h"
#include "report/text_table.h"
#include "report/tune_table.h"

namespace tandem::report {

using namespace app;
namespace {

namespace study = characterize;
using Rows = std::vector<std::vector<std::string>>;

std::string indented(const std::string& table) {
  std::string out;
  for (std::size_t from = 0; from < table.size();) {
    const std::size_t end = std::min(table.find('\n', from), table.size() - 1) + 1;
    out += "  " + table.substr(from, end - from);
    from = end;
  }
  return out;
}

std::string interval_text(const stats::Coefficient& one) {
  if (!one.sure) return "-";
  return fmt::format("{} to {}", number_text(one.sure->low), number_text(one.sure->high));
}

std::string coefficient_lines(const stats::LinearModel& model) {
  Rows rows{{"slope of", "estimate", "t", "p", "95 % interval"}};
  for (const auto& one : model.coefficients)
    rows.push_back({one.name == "1" ? "intercept" : one.name,
                    one.aliased ? "aliased" : number_text(one.estimate),
                    one.sure ? fmt::format("{:.2f}", one.sure->t) : "-",
                    p_text(one.sure ? std::optional(one.sure->p) : std::nullopt), interval_text(one)});
  return indented(columns(rows));
}

std::string analysis_lines(const study::Analysis& analysis, const study::Response& response, bool details) {
  std::string out = fmt::format("\nANOVA of {}{} (type {}, {} observations)\n", analysis.response,
                                response.unit == "1" || response.unit.empty() ? "" : ", " + response.unit,
                                analysis.table.type, analysis.observations);
  Rows rows{{"term", "df", "F", "p", "explains"}};
  for (const auto& row : analysis.table.rows)
    rows.push_back({row.term, std::to_string(row.df), row.f ? fmt::format("{:.2f}", *row.f) : "-",
                    p_text(row.p), share_text(row.share)});
  rows.push_back(
      {"residual", std::to_string(analysis.table.residual_df), "", "",
       share_text(analysis.table.total_ss > 0 ? analysis.table.residual_ss / analysis.table.total_ss : 0)});
  out += indented(columns(rows));
  for (const auto& note : analysis.table.notes) out += "  note: " + note + "\n";
  return details ? out + coefficient_lines(analysis.model) : out;
}

const char* colour_of(study::Grade grade) {
  switch (grade) {
    case study::Grade::high:
      return "\x1b[97;41m";
    case study::Grade::medium:
      return "\x1b[30;43m";
    case study::Grade::low:
      return "\x1b[2m";
  }
  return "";
}

// Factors down, responses across; each cell the grade and the variation it is made of.
std::string heat_map_lines(const Findings& found, bool colour) {
  std::map<std::pair<std::string, std::string>, const study::Impact*> cells;
  for (const auto& impact : found.impacts) cells[{impact.factor, impact.response}] = &impact;
  std::size_t first = 6;
  for (const auto& factor : found.study.factors) first = std::max(first, factor.name.size());
  std::string out =
      "\nImpact (high above 20 % of variation, medium from 10 %; of a quality 5 % and 1 %; * p < 0.05)\n";
  out += fmt::format("  {:<{}}", "factor", first);
  for (const auto& response : found.analysed)
    out += fmt::format("  {:>{}}", response, std::max<std::size_t>(response.size(), 15));
  out += "\n";
  for (const auto& factor : found.study.factors) {
    out += fmt::format("  {:<{}}", factor.name, first);
    for (const auto& response : found.analysed) {
      const auto cell = cells.find({factor.name, response});
      const auto* impact = cell == cells.end() ? nullptr : cell->second;
      std::string text = "-";
      if (impact && impact->grade)
        text = fmt::format("{} {}{}", name(*impact->grade), share_text(*impact->variation),
                           impact->p && *impact->p < 0.05 ? " *" : "");
      text = fmt::format("{:>{}}", text, std::max<std::size_t>(response.size(), 15));
      if (colour && impact && impact->grade) text = colour_of(*impact->grade) + text + "\x1b[0m";
      out += "  " + text;
    }
    out += "\n";
  }
  return out;
}

std::string levels_lines(const Findings& found) {
  if (found.levels.empty()) return "";
  std::string out =
      fmt::format("\nTuning at one level and at both: the best mean, with its 95 % interval{}\n",
                  found.usual_load.empty() ? "" : " (" + found.usual_load + ")");
  Rows rows{{"response", "tuned", "best", "both better by", "p", "at"}};
  for (const auto& comparison : found.levels)
    for (const auto& best : comparison.best) {
      if (best.settings == 0) continue;
      rows.push_back({comparison.response, level_word(best.strategy), mean_text(best.mean),
                      best.both_better_by ? share_text(*best.both_better_by) : "-", p_text(best.p),
                      point_text(best.at)});
    }
  return out + indented(columns(rows));
}

std::string cost_lines(const Findings& found, const AnalysisOptions& looking) {
  std::string out = fmt::format("\nCost at ${:g} an hour for {:g} cores, ${:g} a GB out (bytes out: {})\n",
                                looking.prices.dollars_per_hour, looking.prices.cores,
                                looking.prices.dollars_per_gb_out, bytes_out_text(found));
  double sum = 0;
  for (const auto& run : found.study.runs)
    if (const auto cost = run.responses.find("dollars"); cost != run.responses.end()) sum += cost->second;
  out += fmt::format("  all runs together ${}\n", number_text(sum));
  return out + "  " + threefold_text(found) + "\n";
}

std::string runs_lines(const std::vector<tune::MeasuredTask>& tasks) {
  Rows rows{{"RUN", "POINT", "REP", "JOB", "STATE", "TIME", "AT"}};
  for (const auto& task : tasks) {
    const auto time = task.measured.find("train_seconds");
    rows.push_back({std::to_string(task.run + 1), std::to_string(task.point),
                    std::to_string(task.replication + 1), std::to_string(task.job + 1), task.state,
                    time == task.measured.end() ? "-" : text(Seconds{time->second}), point_text(task.at)});
  }
  return "\n" + indented(columns(rows));
}

std::string candidate_text(const study::Candidate& one, const Findings& found) {
  return fmt::format("{} ({} {}, {} s, ${})", point_text(one.at), found.asked->quality,
                     mean_text(one.quality), mean_text(one.time), mean_text(one.cost));
}

}  // namespace

std::string mean_text(const study::Mean& mean) {
  return mean.reach ? fmt::format("{} ± {}", number_text(mean.value), number_text(*mean.reach))
                    : number_text(mean.value);
}

std::string p_text(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", *p);
}

std::string share_text(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::string level_word(study::Strategy strategy) {
  switch (strategy) {
    case study::Strategy::hyper_only:
      return "hyper only";
    case study::Strategy::system_only:
      return "system only";
    case study::Strategy::both:
      return "both";
  }
  return "";
}

std::string threefold_text(const Findings& found) {
  if (!found.threefold) return "Threefold objective: not asked, see the notes";
  const auto& answer = *found.threefold;
  const auto& response = study::response_named(found.study, found.asked->quality);
  const std::string goal =
      fmt::format("{} {} {}", found.asked->quality, response.more_is_better ? "at least" : "at most",
                  number_text(found.asked->quality_at_least));
  if (!answer.fastest || !answer.cheapest) {
    return fmt::format(
        "{}: none of {} settings{}", goal, answer.settings,
        answer.best_quality ? "; the nearest: " + candidate_text(*answer.best_quality, found) : "");
  }
  return fmt::format("{}: {} of {} settings\n    fastest   {}\n    cheapest  {}{}", goal, answer.good_enough,
                     answer.settings, candidate_text(*answer.fastest, found),
                     candidate_text(*answer.cheapest, found),
                     answer.compromise ? "\n    both      " + candidate_text(*answer.compromise, found) : "");
}

std::string bytes_out_text(const Findings& found) {
  const auto told = found.tasks_with_bytes_out, all = found.study.runs.size();
  if (told == 0) return "not measured";
  return told == all ? "as the program reports them"
                     : fmt::format("as the program reports them, {} of {} times", told, all);
}

std::string plan_table(const tune::Plan& plan) {
  std::vector<std::vector<std::string>> rows{{"RUN", "POINT", "REP", "AT"}};
  for (const auto& run : plan.runs)
    rows.push_back({std::to_string(rows.size()), std::to_string(run.design.point),
                    std::to_string(run.design.replication + 1), point_text(run.design.at)});
  return plan.counted + "\n\n" + columns(rows);
}

std::string experiment_table(const store::RunInfo& run, const View& view, const TableStyle& style) {
  const auto looking = analysis_options_of(run);
  const auto found = findings_of(view, view.jobs.front().id, looking);
  const auto& job = view.jobs.front();
  std::string out = fmt::format("{} {}: {} measured, {} design, {}{}\n", run.name, run.state,
                                counted(found.whole_runs, "run"), job.as<spec::Experiment>()->design, text(job.active),
                                run.reason.empty() ? "" : " (" + run.reason + ")");
  if (const auto left = left_out_text(found); !left.empty()) out += "  " + left + "\n";
  for (const auto& analysis : found.analyses) {
    const bool main = std::find(found.main.begin(), found.main.end(), analysis.response) != found.main.end();
    if (main || style.details)
      out += analysis_lines(analysis, study::response_named(found.study, analysis.response), style.details);
  }
  if (!found.impacts.empty()) out += heat_map_lines(found, style.colour);
  out += levels_lines(found);
  if (!found.study.runs.empty()) out += cost_lines(found, looking);
  for (const auto& note : found.notes) out += "  note: " + note + "\n";
  if (style.details) out += runs_lines(found.tasks);
  return out + fmt::format("\n  run {}\n", run.id);
}

}  // namespace tandem::report
