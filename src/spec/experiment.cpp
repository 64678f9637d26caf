#include "spec/experiment.h"

#include "spec/journalled.h"

namespace tandem::spec {
namespace {

using namespace journalled;

constexpr const char* kMode = "experiment";

Experiment read_experiment(const json& from) {
  if (!is_experiment_json(from)) damaged("it is not an experiment");
  Experiment job;
  if (from.contains("base")) job.base = train_job_from_json(from["base"]);
  job.factors = space_from_json(part(from, "hyper"));
  job.system = system_space_from_json(part(from, "system"));
  const json search = part(from, "search");
  read_word(search, "algorithm", job.design);
  read_whole(search, "trials", job.points, 1);
  read_whole(search, "seed", job.seed, std::numeric_limits<std::int64_t>::min());
  read_whole(from, "warm_repetitions", job.replications, 1);
  return job;
}

}  // namespace

bool is_experiment_json(const nlohmann::json& from) {
  return from.is_object() && from.contains("kind") && from["kind"] == "tune" && from.contains("mode") &&
         from["mode"] == kMode;
}

nlohmann::json to_json(const Experiment& job) {
  json search{{"algorithm", job.design}, {"max_epochs", job.base.epochs}, {"seed", job.seed}};
  if (job.points) search["trials"] = *job.points;
  return {{"kind", "tune"},
          {"mode", kMode},
          {"base", to_json(job.base)},
          {"hyper", to_json(job.factors)},
          {"system", to_json(job.system)},
          {"search", std::move(search)},
          {"warm_repetitions", job.replications}};
}

Experiment experiment_from_json(const nlohmann::json& from) {
  try {
    return read_experiment(from);
  } catch (const json::exception& error) {
    damaged(error.what());
  }
}

}  // namespace tandem::spec
