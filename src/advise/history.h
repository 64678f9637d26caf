// Past runs as advice sees them: what was asked for, how busy the machine was, and what came of it.
//
// The caller makes them from the store; everything here is a value, and pure. A run that cannot be learnt
// from (it failed, its time is not a number) is not thrown away in silence: `unusable` says why.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/resources.h"
#include "base/units.h"
#include "base/value.h"

namespace tandem::advise {

// From `at` seconds after the run's start on, so many jobs ran on its machine, itself included, on so many
// cores. The first change is at 0; a profile holds until the next change, the last one for good.
struct LoadChange {
  Seconds at;
  double jobs = 1, cores = 0;

  bool operator==(const LoadChange&) const = default;
};
using LoadProfile = std::vector<LoadChange>;

// How busy a machine is: jobs and the cores they want, all of them. No cores: as many each as the one asked
// for.
struct Load {
  double jobs = 1, cores = 0;

  Load() = default;
  Load(double jobs_there, double cores_wanted = 0) : jobs(jobs_there), cores(cores_wanted) {}  // NOLINT
  bool operator==(const Load&) const = default;
};

// On average until `end`; alone where nothing is known (an empty profile).
Load mean_load(const LoadProfile&, Seconds end);

// What can be chosen. The batch size is hyper["batch_size"], as in a spec.
struct Setting {
  Values hyper;
  Resources system;
  std::int64_t epochs = 1;
  int nodes = 1;

  bool operator==(const Setting&) const = default;
};
std::string text(const Setting&);  // "batch_size 64, 2 cores, 10 epochs"
nlohmann::json to_json(const Setting&);

// How many threads share the fullest of a job's CPUs, one of its own included: 1 where all fit, else as many
// as even spreading leaves. Between two whole numbers of threads on a line.
double contention(const Setting&, const Load&, int machine_cores);

struct EpochMetrics {
  std::int64_t epoch = 0;  // 1 is the first
  Metrics values;
};

struct PastRun {
  std::string id;
  std::string program;  // "lenet5/mnist", or the command
  std::string machine;  // its type; runs on other types are not mixed in
  Setting setting;      // `epochs`: those it finished
  LoadProfile load;
  Seconds seconds;                    // from start to end
  std::vector<double> epoch_seconds;  // where known, one an epoch; the rest of `seconds` is start-up
  std::vector<EpochMetrics> metrics;  // where known, in order of epochs; may be the last one only
  std::optional<Joules> joules;
  std::string joules_source;  // rapl, nvml, pdu, slurm or model; empty: nobody measured
  bool from_probe = false;    // not a run but what a probe says of one (advise/probe.h)
};

// Why nothing can be learnt from a run, as a phrase ("its time is nan"); nullopt where it can.
std::optional<std::string> unusable(const PastRun&);

// Names of the numbers that describe a setting, and the numbers.
//
// `timing`: what a run's speed may depend on: "batch", "cores", "jobs", "nodes", "speed" and the numeric
// hyperparameters; "crowd" too where it is known how many cores the machine has (0: it is not). `result`:
// what its metrics may depend on: "batch", "epochs" and the hyperparameters; cores and jobs change when a
// result comes, not what it is. A hyperparameter that is a word or a flag becomes a column a value
// ("optimizer=sgd": 0 or 1). One that some runs do not say is left out, and listed.
class Columns {
 public:
  enum class Of { timing, result };
  Columns() = default;
  Columns(Of, std::span<const PastRun* const>, int machine_cores = 0);
  Columns(std::vector<std::string> names, int machine_cores)  // as they were
      : names_(std::move(names)), machine_cores_(machine_cores) {}

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& left_out() const { return left_out_; }
  int machine_cores() const { return machine_cores_; }
  // UserError where the setting does not say one of the columns.
  std::vector<double> row(const Setting&, const Load&) const;

 private:
  std::vector<std::string> names_, left_out_;
  int machine_cores_ = 0;
};

}  // namespace tandem::advise
