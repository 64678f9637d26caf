#include "app/experiment_results.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/tune_results.h"
#include "base/error.h"
#include "base/json.h"
#include "event/codec.h"

namespace tandem::app {

using nlohmann::json;
namespace {

namespace study = characterize;

json mean_json(const study::Mean& mean) {
  json out{{"mean", mean.value}, {"observations", mean.count}};
  out["low"] = mean.reach ? json(mean.value - *mean.reach) : json(nullptr);
  out["high"] = mean.reach ? json(mean.value + *mean.reach) : json(nullptr);
  return out;
}

json task_json(const tune::MeasuredTask& task) {
  return {{"task", task.task},
          {"run", task.run},
          {"point", task.point},
          {"replication", task.replication},
          {"job", task.job},
          {"varied", task.varied},
          {"at", tandem::to_json(task.at)},
          {"state", task.state},
          {"reason", task.reason},
          {"attempts", task.attempts},
          {"epochs", task.epochs},
          {"measured", task.measured}};
}

json coefficients_json(const stats::LinearModel& model) {
  json out = json::array();
  for (const auto& one : model.coefficients) {
    json row{{"name", one.name},
             {"estimate", one.aliased ? json(nullptr) : json(one.estimate)},
             {"aliased", one.aliased}};
    if (one.sure)
      row.update({{"error", one.sure->error},
                  {"t", one.sure->t},
                  {"p", one.sure->p},
                  {"low", one.sure->low},
                  {"high", one.sure->high}});
    out.push_back(std::move(row));
  }
  return out;
}

json analysis_json(const study::Analysis& analysis) {
  json rows = json::array();
  for (const auto& row : analysis.table.rows)
    rows.push_back({{"term", row.term},
                    {"df", row.df},
                    {"sum_of_squares", row.sum_of_squares},
                    {"f", or_null(row.f)},
                    {"p", or_null(row.p)},
                    {"share", row.share}});
  return {{"response", analysis.response},
          {"type", analysis.table.type},
          {"order", analysis.order},
          {"observations", analysis.observations},
          {"rows", rows},
          {"residual_df", analysis.table.residual_df},
          {"residual_sum_of_squares", analysis.table.residual_ss},
          {"r2", or_null(analysis.model.r2)},
          {"coefficients", coefficients_json(analysis.model)},
          {"notes", analysis.table.notes}};
}

json impact_json(const study::Impact& impact) {
  json levels = json::array();
  for (const auto& level : impact.levels) {
    levels.push_back(mean_json(level.mean));
    levels.back()["level"] = level.level;
  }
  return {{"factor", impact.factor},
          {"response", impact.response},
          {"variation", or_null(impact.variation)},
          {"grade", impact.grade ? json(name(*impact.grade)) : json(nullptr)},
          {"p", or_null(impact.p)},
          {"averaged", impact.averaged},
          {"note", impact.note},
          {"levels", levels}};
}

json comparison_json(const study::Comparison& comparison) {
  json out{{"response", comparison.response}};
  for (const auto& best : comparison.best) {
    if (best.settings == 0) {
      out[name(best.strategy)] = nullptr;
      continue;
    }
    json row = mean_json(best.mean);
    row.update({{"at", tandem::to_json(best.at)},
                {"settings", best.settings},
                {"both_better_by", or_null(best.both_better_by)},
                {"p", or_null(best.p)}});
    out[name(best.strategy)] = std::move(row);
  }
  return out;
}

json candidate_json(const std::optional<study::Candidate>& candidate) {
  if (!candidate) return nullptr;
  return {{"at", tandem::to_json(candidate->at)},
          {"quality", mean_json(candidate->quality)},
          {"seconds", mean_json(candidate->time)},
          {"dollars", mean_json(candidate->cost)}};
}

json threefold_json(const Findings& found) {
  if (!found.threefold) return nullptr;
  const auto& answer = *found.threefold;
  json front = json::array();
  for (const auto& one : answer.front) front.push_back(candidate_json(one));
  return {{"quality", found.asked->quality},
          {"at_least", found.asked->quality_at_least},
          {"settings", answer.settings},
          {"good_enough", answer.good_enough},
          {"best_quality", candidate_json(answer.best_quality)},
          {"fastest", candidate_json(answer.fastest)},
          {"cheapest", candidate_json(answer.cheapest)},
          {"compromise", candidate_json(answer.compromise)},
          {"front", front}};
}

json boxes_json(const Findings& found) {
  json out = json::array();
  for (const auto& [phase, response, unit, box] : found.boxes)
    out.push_back({{"phase", phase},
                   {"response", response},
                   {"unit", unit},
                   {"count", box.count},
                   {"lowest", box.lowest},
                   {"low", box.low},
                   {"median", box.median},
                   {"high", box.high},
                   {"highest", box.highest}});
  return out;
}

template <class Items, class Writer>
json listed(const Items& items, Writer writer) {
  json out = json::array();
  for (const auto& item : items) out.push_back(writer(item));
  return out;
}

}  // namespace

json plan_json(const tune::Plan& plan) {
  json runs = json::array();
  for (const auto& run : plan.runs)
    runs.push_back({{"point", run.design.point},
                    {"replication", run.design.replication},
                    {"varied", run.design.varied},
                    {"at", tandem::to_json(run.design.at)},
                    {"jobs", run.jobs},
                    {"nodes", run.nodes},
                    {"epochs", run.epochs}});
  return {{"counted", plan.counted}, {"runs", runs}};
}

std::string left_out_text(const Findings& found) {
  std::string out;
  if (found.runs > found.whole_runs)
    out = fmt::format("{} of {} runs did not come to their end and are not analysed",
                      found.runs - found.whole_runs, found.runs);
  if (found.repeated > 0)
    out += fmt::format("{}{} runs needed more than one attempt", out.empty() ? "" : "; ", found.repeated);
  return out;
}

// Runs begun before the present one; a plan that cannot be made has none.
Progress experiment_progress(const View& view, const JobView& job) {
  Progress out{0, 0, "runs"};
  try {
    out.of = static_cast<std::int64_t>(tune::plan_of(*job.as<spec::Experiment>()).runs.size());
  } catch (const UserError&) {
    return out;
  }
  if (job.state == JobState::finished) out.done = out.of;
  if (job.state == JobState::finished || job.tasks.empty()) return out;
  out.done = view.tasks[static_cast<std::size_t>(job.tasks.back())].trial->bracket;
  return out;
}

json experiment_json(const store::RunInfo& run, const View& view, const TaskFolders&) {
  const auto& job = view.jobs.front();
  const auto& experiment = *job.as<spec::Experiment>();
  const auto looking = analysis_options_of(run);
  const auto found = findings_of(view, job.id, looking);
  return {{"design", experiment.design},
          {"replications", experiment.replications},
          {"seed", experiment.seed},
          {"wall_seconds", job.active.value},
          {"measured_runs", found.whole_runs},
          {"left_out", left_out_text(found)},
          {"runs", listed(found.tasks, task_json)},
          {"anova", listed(found.analyses, analysis_json)},
          {"impacts", listed(found.impacts, impact_json)},
          {"levels", listed(found.levels, comparison_json)},
          {"usual_load", found.usual_load},
          {"threefold", threefold_json(found)},
          {"prices", json_of(looking)},
          {"tasks_with_bytes_out", found.tasks_with_bytes_out},
          {"boxes", boxes_json(found)},
          {"notes", found.notes}};
}

}  // namespace tandem::app
