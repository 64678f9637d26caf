// A designed experiment (`tandem characterize`) as Tandem understands it: which points are measured, how
// often, and of what. Nothing is searched and nothing judged while it runs.
//
// Plain values, kept whole in the journal as JSON, so a run can be resumed without its YAML file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "spec/tune_job.h"

namespace tandem::spec {

// Factors that are neither a hyperparameter nor given to a task by the machine.
inline constexpr const char* kJobs = "jobs";    // tasks of a point that run at once
inline constexpr const char* kNodes = "nodes";  // of each of them, one process each

struct Experiment {
  // Name, program, what is fixed, limits, energy. base.hyper also has the usual value of what varies, where
  // the model has one inside the domain; base.epochs holds where epochs are no factor; base.system is not
  // used.
  TrainJob base;
  Space factors;       // what varies: hyperparameters, epochs, kJobs and kNodes; constraints as of a search
  SystemSpace system;  // factors too: cores, memory, speed
  std::string design = "one-at-a-time";  // a name of stats::designs()
  std::optional<std::int64_t> points;    // of a design that is asked for by number
  std::int64_t replications = 1;         // of each point, each with a seed of its own
  std::int64_t seed = 1;                 // of the order of the points, and of space-filling ones

  bool operator==(const Experiment&) const = default;
};

// The JSON has the form of a tuning job of mode "experiment" (search.algorithm: the design, search.trials:
// the points, warm_repetitions: the replications), which experiments were once: so journals are read both
// ways.
nlohmann::json to_json(const Experiment&);
Experiment experiment_from_json(const nlohmann::json&);
bool is_experiment_json(const nlohmann::json&);

}  // namespace tandem::spec
