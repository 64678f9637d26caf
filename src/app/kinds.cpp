#include "app/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/experiment_results.h"
#include "app/results.h"
#include "app/tune_results.h"
#include "base/error.h"
#include "base/text.h"
#include "place/engine/scheduler.h"
#include "spec/parse.h"
#include "tune/experiment.h"
#include "tune/possible.h"
#include "tune/train.h"
#include "tune/tune.h"

namespace tandem::app {
namespace {

template <class Decides>
std::unique_ptr<Policy> make() {
  return std::make_unique<Decides>();
}

template <class Kind>
void possible(const spec::Job& job, const View& view) {
  tune::require_possible(std::get<Kind>(job), view);
}

std::unique_ptr<Policy> first_come() {
  return std::make_unique<place::Scheduler>(place::parse_policy("fifo"), 1);
}

// Who has the machine alone deals out all of it, at every report anew.
std::unique_ptr<Policy> malleable() {
  return std::make_unique<place::Scheduler>(place::parse_policy("fifo:malleable"), 1);
}

std::vector<Kind> built_in() {
  std::vector<Kind> out;
  out.push_back({.name = spec::kind_of(spec::TrainJob{}),
                 .unit = "epoch",
                 .description = "",
                 .parse = [](auto text, const auto& file, const auto& known) -> spec::Job {
                   return spec::require_train(text, file, known);
                 },
                 .require_possible = possible<spec::TrainJob>,
                 .controller = make<tune::TrainController>,
                 .allocator = malleable,
                 .results = train_json,
                 .progress = train_progress,
                 .model_task = [](const View&) { return std::optional<TaskId>(0); }});
  out.push_back({.name = spec::kind_of(spec::TuneJob{}),
                 .unit = "trial",
                 .description = "",
                 .parse = [](auto text, const auto& file, const auto& known) -> spec::Job {
                   return spec::require_tune(text, file, known);
                 },
                 .require_possible = possible<spec::TuneJob>,
                 .controller = make<tune::TuneController>,
                 .allocator = malleable,
                 .results = tune_json,
                 .progress = tune_progress,
                 .model_task = best_trial,
                 .uses_knowledge = true});
  // What it measures would be others' doing too, where jobs are queued.
  out.push_back({.name = spec::kind_of(spec::Experiment{}),
                 .unit = "run",
                 .description = "",
                 .parse = [](auto text, const auto& file, const auto& known) -> spec::Job {
                   return spec::require_characterize(text, file, known);
                 },
                 .controller = make<tune::ExperimentController>,
                 .results = experiment_json,
                 .progress = experiment_progress,
                 .queued = false});
  return out;
}

std::vector<Kind>& table() {
  static std::vector<Kind> rows = built_in();
  return rows;
}

}  // namespace

const std::vector<Kind>& kinds() {
  return table();
}

void add_kind(Kind kind) {
  if (find_kind(kind.name)) throw UserError("there is a kind '" + kind.name + "' already");
  if (kind.name.empty() || !kind.parse || !kind.controller || !kind.results || !kind.progress)
    throw UserError("the row of kind '" + kind.name + "' is not complete");
  table().push_back(std::move(kind));
}

const Kind* find_kind(std::string_view name) {
  const auto at = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.name == name; });
  return at == kinds().end() ? nullptr : &*at;
}

const Kind& row_of(const spec::Job& job) {
  if (const Kind* found = find_kind(spec::kind_of(job))) return *found;
  throw UserError(fmt::format("'{}' is a job of kind {}, which this Tandem does not know",
                              printable(spec::base_of(job).name, 60), printable(spec::kind_of(job), 40)));
}

std::vector<std::unique_ptr<Policy>> policies_for(const spec::Job& job) {
  const Kind& kind = row_of(job);
  std::vector<std::unique_ptr<Policy>> out;
  out.push_back(kind.controller());
  out.push_back(kind.allocator ? kind.allocator() : first_come());
  return out;
}

nlohmann::json progress_json(const View& view, const JobView& job) {
  const Kind* kind = find_kind(spec::kind_of(job.spec));
  if (kind == nullptr) return nullptr;
  const auto at = kind->progress(view, job);
  return {{"done", at.done},
          {"of", at.of > 0 ? nlohmann::json(at.of) : nlohmann::json(nullptr)},
          {"unit", at.unit}};
}

}  // namespace tandem::app
