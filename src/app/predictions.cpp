#include "app/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/runs.h"
#include "base/error.h"
#include "base/json.h"

namespace tandem::app {
using nlohmann::json;
namespace {

std::optional<double> number_or_none(const json& in) {
  return in.is_number() ? std::optional(in.get<double>()) : std::nullopt;
}

std::optional<Joules> joules_or_none(const json& in) {
  return in.is_number() ? std::optional(Joules{in.get<double>()}) : std::nullopt;
}

PredictedRun read(const store::Prediction& kept) {
  const auto parsed = parse_json(kept.body);
  if (parsed.is_discarded())
    throw SystemError("the prediction of run " + kept.run.id + " is damaged in the store");
  auto out = predicted_run_from_json(parsed);
  out.run = kept.run.id;
  out.job = kept.job;
  return out;
}

Outcome outcome_of(const JobView& job, const TaskView& task, const std::string& metric) {
  Outcome out{job.active, std::nullopt, std::nullopt};
  if (!task.epochs.empty())
    if (const auto at = task.epochs.back().metrics.find(metric); at != task.epochs.back().metrics.end())
      out.metric = at->second;
  if (!task.energy_source.empty() && task.energy_complete) out.joules = task.joules();
  return out;
}

// Nobody waits for a server's jobs: their outcomes are looked up when somebody asks.
void settle(store::Store& store) {
  std::map<std::string, View> seen;
  for (const auto& kept : store.predictions()) {
    if (!is_server(kept.run) || read(kept).outcome) continue;
    if (!seen.contains(kept.run.id)) seen.emplace(kept.run.id, replayed(store, kept.run));
    keep_outcome(store, kept.run, seen.at(kept.run.id), static_cast<JobId>(kept.job));
  }
}

}  // namespace

json to_json(const PredictedRun& run) {
  json out{{"program", run.program},
           {"metric", run.metric},
           {"model", run.model},
           {"setting", advise::to_json(run.setting)},
           {"slo", run.slo.value},
           {"seconds", run.seconds.value},
           {"low", run.low.value},
           {"high", std::isfinite(run.high.value) ? json(run.high.value) : json(nullptr)},
           {"p_meet", run.p_meet},
           {"jobs", run.load.jobs},
           {"cores_wanted", run.load.cores},
           {"metric_value", or_null(run.metric_value)},
           {"joules", run.joules ? json(run.joules->value) : json(nullptr)},
           {"outcome", nullptr}};
  if (!run.run.empty()) out["run"] = run.run, out["job"] = run.job;
  if (run.owner >= 0) out["owner"] = run.owner;
  if (run.outcome)
    out["outcome"] = {{"seconds", run.outcome->seconds.value},
                      {"metric_value", or_null(run.outcome->metric)},
                      {"joules", run.outcome->joules ? json(run.outcome->joules->value) : json(nullptr)},
                      {"met", run.met()}};
  return out;
}

PredictedRun predicted_run_from_json(const json& in) try {
  PredictedRun out;
  out.program = in.at("program");
  out.metric = in.at("metric");
  out.model = in.at("model");
  const auto& setting = in.at("setting");
  out.setting = {values_from_json(setting.at("hyper")), resources_from_json(setting.at("system")),
                 setting.at("epochs"), setting.value("nodes", 1)};
  out.slo = Seconds{in.at("slo").get<double>()};
  out.seconds = Seconds{in.at("seconds").get<double>()};
  out.low = Seconds{in.at("low").get<double>()};
  out.high = Seconds{number_or_none(in.at("high")).value_or(INFINITY)};
  out.p_meet = in.at("p_meet");
  out.load = {in.value("jobs", 1.0), in.value("cores_wanted", 0.0)};
  out.owner = in.value("owner", std::int64_t{-1});
  out.metric_value = number_or_none(in.at("metric_value"));
  out.joules = joules_or_none(in.at("joules"));
  if (const auto& outcome = in.at("outcome"); outcome.is_object())
    out.outcome = {Seconds{outcome.at("seconds").get<double>()}, number_or_none(outcome.at("metric_value")),
                   joules_or_none(outcome.at("joules"))};
  return out;
} catch (const json::exception& error) {
  throw SystemError(std::string("a prediction is damaged in the store: ") + error.what());
}

PredictedRun predicted(const advise::Assessment& choice, const advise::Models& models,
                       const advise::Question& question) {
  const auto interval = choice.seconds.interval(question.interval);
  PredictedRun out;
  out.program = models.program();
  out.metric = models.metric();
  out.model = choice.seconds.said_by;
  out.setting = choice.setting;
  out.slo = question.slo;
  out.seconds = Seconds{choice.seconds.value()};
  out.low = Seconds{interval.low};
  out.high = Seconds{interval.high};
  out.p_meet = choice.p_meet;
  out.load = choice.load;
  if (choice.metric) out.metric_value = choice.metric->value();
  if (choice.joules) out.joules = Joules{choice.joules->value()};
  return out;
}

void keep_prediction(store::Store& store, const std::string& run, const PredictedRun& prediction) {
  store.keep_prediction(run, prediction.job, to_json(prediction).dump());
}

std::optional<PredictedRun> keep_outcome(store::Store& store, const store::RunInfo& run, const View& view,
                                         JobId id) {
  const auto all = store.predictions();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& kept) { return kept.run.id == run.id && kept.job == id; });
  if (found == all.end() || !view.jobs.contains(id)) return std::nullopt;
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  if (job.state != JobState::finished || job.tasks.empty()) return std::nullopt;
  auto prediction = read(*found);
  prediction.outcome =
      outcome_of(job, view.tasks[static_cast<std::size_t>(job.tasks.front())], prediction.metric);
  keep_prediction(store, run.id, prediction);
  return prediction;
}

std::string comparison(const PredictedRun& run) {
  std::string out = fmt::format("predicted {} ({} to {})", text(run.seconds), text(run.low),
                                std::isfinite(run.high.value) ? text(run.high) : "any time");
  if (!run.outcome) return out;
  out += fmt::format(", took {} ({:+.1f} %): SLO of {} {}", text(run.outcome->seconds), 100 * error_of(run),
                     text(run.slo), run.met() ? "met" : "missed");
  if (run.metric_value && run.outcome->metric)
    out += fmt::format("; {} {:.4g} predicted, {:.4g} reached", run.metric, *run.metric_value,
                       *run.outcome->metric);
  return out;
}

std::vector<advise::FinishedPrediction> finished_predictions(store::Store& store, const std::string& program,
                                                             std::size_t skip, const store::Owners& whose) {
  std::vector<advise::FinishedPrediction> out;
  const auto is_meant = [&](std::int64_t owner) {
    return whose.empty() || std::find(whose.begin(), whose.end(), owner) != whose.end();
  };
  for (const auto& kept : store.predictions())
    if (const auto run = read(kept); run.program == program && run.outcome && is_meant(run.owner))
      out.push_back({run.run, run.seconds, run.outcome->seconds});
  std::reverse(out.begin(), out.end());
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::min(skip, out.size())));
  return out;
}

double error_of(const PredictedRun& run) {
  return run.outcome->seconds.value / run.seconds.value - 1;
}

std::vector<PredictedRun> all_predictions(store::Store& store) {
  settle(store);
  std::vector<PredictedRun> out;
  for (const auto& kept : store.predictions()) out.push_back(read(kept));
  return out;
}

json predictions_json(const std::vector<PredictedRun>& predictions) {
  auto list = json::array();
  double absolute = 0, errors = 0, met = 0;
  for (const auto& run : predictions) {
    list.push_back(to_json(run));
    if (run.outcome) absolute += std::abs(error_of(run)), errors += 1, met += run.met();
  }
  json summary{{"finished", errors}, {"met", met}, {"mean_absolute_error", nullptr}};
  if (errors > 0) summary["mean_absolute_error"] = absolute / errors;
  return {{"predictions", list}, {"summary", summary}};
}

}  // namespace tandem::app
