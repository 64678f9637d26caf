// A job of any kind. What belongs to each kind (parser, controller, results, ...) is a row of app/kinds.h;
// here are only its values.
//
// Every kind has a base: its name, what a task of it runs, its limits and what a scheduler shall know. Worlds
// and allocators read that, whatever the kind is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>

#include "spec/experiment.h"
#include "spec/job.h"
#include "spec/tune_job.h"

namespace tandem::spec {

// A job of a kind that is not built in: what it says beside its base is read and written by its own folder.
struct CustomJob {
  std::string kind;
  TrainJob base;
  std::string body = "{}";  // a JSON text
  bool operator==(const CustomJob&) const = default;
};

using Job = std::variant<TrainJob, TuneJob, Experiment, CustomJob>;

inline const TrainJob& base_of(const Job& job) {
  if (const auto* train = std::get_if<TrainJob>(&job)) return *train;
  if (const auto* tune = std::get_if<TuneJob>(&job)) return tune->base;
  if (const auto* experiment = std::get_if<Experiment>(&job)) return experiment->base;
  return std::get<CustomJob>(job).base;
}
inline TrainJob& base_of(Job& job) {
  return const_cast<TrainJob&>(base_of(std::as_const(job)));
}

// Its name in specs, runs and the API: "train", "tune", "characterize", or a custom one's.
const std::string& kind_of(const Job&);

// As specs may have it; UserError otherwise.
std::string checked_name(const std::string&);

nlohmann::json to_json(const CustomJob&);
nlohmann::json to_json(const Job&);
Job job_from_json(const nlohmann::json&);

}  // namespace tandem::spec
