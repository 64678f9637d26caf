#include "app/experiment_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "app/results.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "tune/experiment_plan.h"

namespace tandem::app {

using nlohmann::json;
namespace {

namespace study = characterize;

constexpr const char* kDollars = "dollars";

// What the chapter looks at, in its order; of the first three the first that is there is the quality.
const std::vector<std::string> kQualities{"accuracy", "r2", "silhouette", "error", "loss"};
const std::vector<std::string> kUsual{
    "train_seconds", "seconds_per_thousand", "inference_per_second", "joules", kDollars,
    "cpu-time",      "resident-bytes",       "pressure-io"};

const std::set<std::string> kTunedFor{"train_seconds", "seconds_per_thousand", "inference_per_second",
                                      "joules", kDollars};

std::string phase_of(const std::string& response) {
  if (response == "startup_seconds" || response == "seconds_load") return "load";
  if (response == "seconds_test" || response == "inference_per_second") return "inference";
  if (response == "train_seconds" || response == "epoch_seconds" || response == "seconds_train" ||
      response == "seconds_wait" || response == "seconds_per_thousand" || response == "samples_per_second")
    return "training";
  return "";
}

study::Response response_of(const std::string& name) {
  if (name == kDollars) return {name, "$"};
  const auto meaning = tune::meaning_of(name);
  const bool quality = std::find(kQualities.begin(), kQualities.end(), name) != kQualities.end() ||
                       (meaning.more_is_better && meaning.unit == "1") || name == "rmse" || name == "mae";
  return {name, meaning.unit, phase_of(name), quality, meaning.more_is_better};
}

double cores_at(const Values& at) {
  const auto cores = at.find("cores");
  const auto nodes = at.find(spec::kNodes);
  const double each = cores == at.end() ? 1 : as_number(cores->second).value_or(1);
  return each * (nodes == at.end() ? 1 : as_number(nodes->second).value_or(1));
}

// One row a task that ran to its end, in a run whose tasks all did.
void add_runs(const JobView& job, const AnalysisOptions& looking, Findings& out) {
  std::set<std::size_t> broken, seen, repeated;
  for (const auto& task : out.tasks) {
    seen.insert(task.run);
    if (!task.whole()) broken.insert(task.run);
    if (task.attempts > 1) repeated.insert(task.run);
  }
  out.runs = seen.size();
  out.whole_runs = seen.size() - broken.size();
  for (const auto& task : out.tasks) {
    if (broken.contains(task.run)) continue;
    study::Run run{.at = task.at, .replication = task.replication, .responses = task.measured};
    run.method = job.base().program.model;
    run.dataset = job.base().program.dataset;
    const auto sent = task.measured.find(tune::kBytesOut);
    out.tasks_with_bytes_out += sent != task.measured.end();
    if (const auto time = task.measured.find("train_seconds"); time != task.measured.end())
      run.responses[kDollars] = study::dollars(
          time->second, cores_at(task.at), sent == task.measured.end() ? 0 : sent->second, looking.prices);
    out.study.runs.push_back(std::move(run));
    out.repeated += repeated.erase(task.run);
  }
}

void add_factors(const JobView& job, Findings& out) {
  for (const auto& factor : tune::factors_of(*job.as<spec::Experiment>())) {
    const bool system = tune::is_system_factor(factor.name) || tune::is_load_factor(factor.name);
    out.study.factors.push_back(
        {factor.name, system ? study::Side::system : study::Side::hyper, stats::usual_of(factor)});
  }
}

void add_responses(const AnalysisOptions& looking, Findings& out) {
  std::set<std::string> measured;
  for (const auto& run : out.study.runs)
    for (const auto& [name, value] : run.responses) measured.insert(name);
  for (const auto& name : kQualities)
    if (out.quality.empty() && measured.contains(name)) out.quality = name;
  std::vector<std::string> usual{out.quality};
  usual.insert(usual.end(), kUsual.begin(), kUsual.end());
  for (const auto& name : looking.responses.empty() ? usual : looking.responses) {
    if (measured.contains(name))
      out.analysed.push_back(name);
    else if (!looking.responses.empty())
      throw UserError(fmt::format("nothing called '{}' was measured{}; there are: {}", printable(name, 60),
                                  did_you_mean(name, {measured.begin(), measured.end()}),
                                  join({measured.begin(), measured.end()})));
  }
  for (const auto& name : out.analysed) out.study.responses.push_back(response_of(name));
  std::copy_if(out.analysed.begin(), out.analysed.end(), std::back_inserter(out.main),
               [&](const std::string& name) {
                 return !looking.responses.empty() || name == out.quality || kTunedFor.contains(name);
               });
  for (const auto& name : measured)
    if (std::find(out.analysed.begin(), out.analysed.end(), name) == out.analysed.end())
      out.study.responses.push_back(response_of(name));
}

// Only these responses.
study::Study narrowed(const study::Study& all, const std::vector<std::string>& names) {
  study::Study out = all;
  std::erase_if(out.responses, [&](const study::Response& response) {
    return std::find(names.begin(), names.end(), response.name) == names.end();
  });
  return out;
}

// Nobody tunes how many others there are: tuning is compared at the usual load.
study::Study at_usual_load(const study::Study& all, std::string& said) {
  study::Study out = all;
  for (const auto& factor : all.factors) {
    if (!tune::is_load_factor(factor.name)) continue;
    std::erase_if(out.runs,
                  [&](const study::Run& run) { return !study::same(run.at.at(factor.name), factor.usual); });
    said += fmt::format("{}{} {}", said.empty() ? "" : ", ", factor.name, text(factor.usual));
  }
  return out;
}

void look_at_tuning(const AnalysisOptions& looking, Findings& out) {
  const auto usual = at_usual_load(narrowed(out.study, out.main), out.usual_load);
  if (usual.runs.empty()) {
    out.notes.push_back("no run was made at the usual load: tuning at one level and at both is not compared");
    return;
  }
  out.levels = study::compare_levels(usual);
  const auto at_least = looking.good_enough         ? looking.good_enough
                        : out.quality == "accuracy" ? std::optional(kGoodAccuracy)
                                                    : std::nullopt;
  if (!at_least) {
    out.notes.push_back("the threefold objective needs to know which quality is good enough: --good-enough");
    return;
  }
  if (out.quality.empty()) {
    out.notes.push_back(
        "the threefold objective needs a quality (accuracy, r2, error, loss), and none was reported");
    return;
  }
  out.asked = study::Threefold{out.quality, "train_seconds", kDollars, *at_least};
  study::Study whole = usual;
  for (const char* name : {"train_seconds", kDollars})
    if (std::none_of(whole.responses.begin(), whole.responses.end(),
                     [&](const study::Response& response) { return response.name == name; }))
      whole.responses.push_back(response_of(name));
  if (std::none_of(whole.responses.begin(), whole.responses.end(),
                   [&](const study::Response& response) { return response.name == out.quality; }))
    whole.responses.push_back(response_of(out.quality));
  out.threefold = study::threefold(whole, *out.asked);
}

bool varies(const study::Study& all, const std::string& response) {
  std::set<double> values;
  for (const auto& run : all.runs)
    if (const auto found = run.responses.find(response); found != run.responses.end())
      values.insert(found->second);
  return values.size() > 1;
}

// One factor at a time says nothing of two.
std::size_t order_of(const JobView& job) {
  return job.as<spec::Experiment>()->design == "one-at-a-time" ? 1 : 2;
}

void analyse(const JobView& job, Findings& out) {
  for (const auto& response : out.analysed) {
    if (!varies(out.study, response)) {
      out.notes.push_back(fmt::format("{} was the same in every run", response));
      continue;
    }
    try {
      out.analyses.push_back(study::analyse(out.study, response, {.order = order_of(job)}));
    } catch (const UserError& error) {
      out.notes.push_back(fmt::format("{}: {}", response, error.what()));
    }
  }
  out.impacts = study::impacts(narrowed(out.study, out.analysed));
  out.boxes = study::boxes(out.study);
}

}  // namespace

json json_of(const AnalysisOptions& looking) {
  json out{{"dollars_per_hour", looking.prices.dollars_per_hour},
           {"cores", looking.prices.cores},
           {"dollars_per_gb_out", looking.prices.dollars_per_gb_out},
           {"responses", looking.responses}};
  if (looking.good_enough) out["good_enough"] = *looking.good_enough;
  return out;
}

AnalysisOptions analysis_options_of(const store::RunInfo& run) {
  AnalysisOptions out;
  const auto spec = parse_json(run.spec);
  if (!spec.is_object() || !spec.contains("looking") || !spec["looking"].is_object()) return out;
  const auto& from = spec["looking"];
  out.prices.dollars_per_hour = from.value("dollars_per_hour", out.prices.dollars_per_hour);
  out.prices.cores = from.value("cores", out.prices.cores);
  out.prices.dollars_per_gb_out = from.value("dollars_per_gb_out", out.prices.dollars_per_gb_out);
  out.responses = from.value("responses", out.responses);
  if (from.contains("good_enough")) out.good_enough = from.value("good_enough", 0.0);
  return out;
}

Findings findings_of(const View& view, JobId id, const AnalysisOptions& looking) {
  const auto& job = view.jobs[static_cast<std::size_t>(id)];
  Findings out;
  out.tasks = tune::measured_tasks(view, id);
  add_runs(job, looking, out);
  if (out.study.runs.empty()) {
    out.notes.push_back("no run has come to its end: there is nothing to analyse");
    return out;
  }
  add_factors(job, out);
  add_responses(looking, out);
  analyse(job, out);
  look_at_tuning(looking, out);
  return out;
}

}  // namespace tandem::app
