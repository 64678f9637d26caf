#include "app/advice_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/past_runs.h"
#include "app/predictions.h"
#include "base/error.h"
#include "base/json.h"

namespace tandem::app {
using nlohmann::json;
namespace {

constexpr std::size_t kFewRows = 100;  // fitting so many is quick, and each new one tells much

struct Metric {
  std::string name;
  bool higher_is_better = true;
};

Metric metric_of(const std::vector<advise::PastRun>& runs, const std::string& wanted) {
  static const std::vector<Metric> kUsual{{"accuracy", true}, {"error", false}, {"loss", false}};
  const auto reported = [&](const std::string& name) {
    return std::any_of(runs.begin(), runs.end(), [&](const auto& run) {
      return !run.metrics.empty() && run.metrics.back().values.contains(name);
    });
  };
  if (!wanted.empty()) {
    const auto usual =
        std::find_if(kUsual.begin(), kUsual.end(), [&](const auto& m) { return m.name == wanted; });
    return usual != kUsual.end() ? *usual : Metric{wanted, true};
  }
  for (const auto& metric : kUsual)
    if (reported(metric.name)) return metric;
  return kUsual.front();
}

advise::Fingerprint fingerprint_of(const NodeView& machine) {
  return {{"type", machine.type},
          {"cores", std::to_string(machine.capacity.cores)},
          {"memory", text_bytes(machine.capacity.memory)}};
}

std::string key_of(const std::string& program, const std::string& machine, const LearnOptions& options) {
  json key{program, machine, options.regression, options.metric};
  if (!options.whose.empty()) key.push_back(options.whose);
  return key.dump();
}

// Of log errors on settings the model had not seen; a mean of |error| is 0.8 deviations of normal ones.
double usual_error(const advise::Models& models) {
  const auto& judged = models.epoch_seconds().judged();
  return judged.empty() ? advise::kPriorDeviation : std::max(judged.front().error / 0.8, 0.01);
}

// What was kept, and how it has done since.
struct Kept {
  Learnt learnt;
  advise::DriftVerdict verdict;
};

// `why_not`: where there is none to use. It is made from the past runs, so one that cannot be read is no loss.
std::optional<Kept> kept(store::Store& store, const std::string& key, const NodeView& machine,
                         const store::Owners& whose, std::string& why_not) try {
  const auto body = store.fitted(key);
  why_not = "there was none yet";
  if (!body) return std::nullopt;
  const auto in = parse_json(*body);
  std::optional<advise::Models> models;
  try {
    models = advise::Models::read(in.at("models"));
  } catch (const UserError&) {
    why_not = "the kept one is of another version of Tandem";
    return std::nullopt;
  }
  Kept out{{*std::move(models), in.at("higher_is_better"), in.at("rows"), {}}, {}};
  advise::Drift drift(usual_error(out.learnt.models), out.learnt.rows,
                      in.at("machine").get<advise::Fingerprint>());
  for (const auto& finished :
       finished_predictions(store, out.learnt.models.program(), in.at("predictions"), whose))
    drift.add(finished);
  out.verdict = drift.verdict(fingerprint_of(machine));
  return out;
} catch (const json::exception&) {
  why_not = "the kept one is damaged in the store";
  return std::nullopt;
}

void keep(store::Store& store, const std::string& key, const Learnt& learnt, const NodeView& machine,
          const store::Owners& whose) {
  const auto seen = finished_predictions(store, learnt.models.program(), 0, whose).size();
  store.keep_fitted(key, json{{"models", learnt.models.written()},
                              {"higher_is_better", learnt.higher_is_better},
                              {"rows", learnt.rows},
                              {"predictions", seen},
                              {"machine", fingerprint_of(machine)}}
                             .dump());
}

}  // namespace

Learnt learn_from(const std::vector<advise::PastRun>& runs, const std::string& program,
                  const NodeView& machine, const LearnOptions& options) {
  const Metric metric = metric_of(runs, options.metric);
  advise::ModelsOptions fitting{.metric = metric.name, .machine_cores = machine.capacity.cores};
  if (!options.regression.empty()) fitting.regressions = {options.regression};
  return {
      advise::Models::fit(runs, program, machine.type, fitting), metric.higher_is_better, runs.size(), {}};
}

std::optional<Learnt> learn(store::Store& store, const std::string& program, const NodeView& machine,
                            const LearnOptions& options) {
  fold_past_runs(store, program);
  const auto rows = static_cast<std::size_t>(store.past_count(program, options.whose));
  if (rows == 0) return std::nullopt;
  const std::string key = key_of(program, machine.type, options);
  std::vector<std::string> why;
  std::string why_not;
  if (auto found = kept(store, key, machine, options.whose, why_not)) {
    const bool few_and_new = rows != found->learnt.rows && rows < kFewRows;
    const bool removed = rows < found->learnt.rows;  // what is gone should not go on speaking
    if (!found->verdict.retrain && !few_and_new && !removed && rows < 2 * found->learnt.rows)
      return found->learnt;
    why = found->verdict.reasons;
    if (why.empty())
      why.push_back(fmt::format("{} past runs, {} when it was fitted last", rows, found->learnt.rows));
  } else {
    why.push_back(why_not);
  }
  Learnt learnt = learn_from(past_runs(store, program, options.whose), program, machine, options);
  for (const auto& reason : why) learnt.notes.push_back("the model was fitted anew: " + reason);
  keep(store, key, learnt, machine, options.whose);
  return learnt;
}

}  // namespace tandem::app
