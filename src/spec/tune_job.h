// A tuning job as Tandem understands it: what may vary, how to search, and what is best.
//
// Plain values, kept whole in the journal as JSON, so a run can be resumed without its YAML file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spec/job.h"
#include "spec/space.h"

namespace tandem::spec {

// What the program may be given of the machine. An empty list: not in the spec; the tuner then uses what the
// machine has (cores), sets no limit (memory, speed), or leaves it as it is (the others). Sorted, no
// duplicates.
struct SystemSpace {
  std::vector<int> cores;
  std::vector<Bytes> memory;
  std::vector<double> speed;
  int gpus = 0;                   // of every trial
  Bytes gpu_memory = 0;           // of each of them; 0: trials do not share GPUs
  std::vector<double> gpu_power;  // watts
  std::vector<double> gpu_clock;  // hertz
  std::vector<Precision> precision;
  bool operator==(const SystemSpace&) const = default;
};

inline constexpr std::size_t kMostStarts = 1000;

void sort_choices(SystemSpace&);
bool varies(const SystemSpace&);  // has more than one choice of something
nlohmann::json to_json(const SystemSpace&);
SystemSpace system_space_from_json(const nlohmann::json&);

// A search's state and every decision stay small enough for a scheduler's one thread.
inline constexpr std::int64_t kMostTrials = 100'000;

struct SearchSpec {
  std::string algorithm = "hyperband";  // a name of search::algorithms()
  std::int64_t max_epochs = 9;          // the most a trial may run
  std::int64_t reduction = 3;           // of each rung: one in so many goes on
  std::optional<std::int64_t> trials;   // configurations to start; none: the algorithm's own number
  std::int64_t seed = 1;
  std::string pruning = "none";  // for algorithms without rungs of their own: none, halving, median
  // Known points: the first trials begin there, in this order. What one leaves open is drawn.
  std::vector<Values> start{};
  bool operator==(const SearchSpec&) const = default;
};

// A metric the program reports, or what Tandem measures: train_time, energy, and cost where it has weights.
struct Goal {
  std::string metric;
  bool maximise = true;
  bool operator==(const Goal&) const = default;
};

// Zeus' cost of energy and time as one number of joules: energy * joules + time * (the machine's greatest
// draw)
// * seconds. Neither is negative, and they add up to 1.
struct CostWeights {
  double energy = 0.5, time = 0.5;
  bool operator==(const CostWeights&) const = default;
};
inline constexpr const char* kCost = "cost";  // the goal

struct Objective {
  std::vector<Goal> goals{{"accuracy", true}};  // the first is the main one; several: a Pareto front
  std::optional<double> target;                 // of the main goal: good enough, stop there
  std::optional<CostWeights> cost{};            // then kCost is among the goals, and is Tandem's
  bool operator==(const Objective&) const = default;
};

// Past any of these the job ends with what it has found; that is an end, not a failure.
struct Budget {
  std::optional<Seconds> time;
  std::optional<Joules> energy;
  std::optional<Joules> cost{};  // as the objective's cost weighs energy and time
  bool operator==(const Budget&) const = default;
};

enum class Mode {
  hyper,      // fixed system parameters: the most cores the spec allows, or --cores
  joint,      // system parameters in the search space, objective divided by duration
  pipelined,  // system parameters tuned inside the epochs
};
const char* name(Mode);
std::optional<Mode> mode_from(const std::string&);

struct TuneJob {
  // Name, program, what is fixed (base.hyper has defaults of the model too), limits, energy. base.epochs is
  // search.max_epochs, base.seed seeds every trial, base.system is not used.
  TrainJob base;
  Space hyper;  // what varies; constraints may also speak of cores, memory (bytes) and speed, and fixed ones
  SystemSpace system;
  SearchSpec search;
  Objective objective;
  Budget budget;
  Mode mode = Mode::pipelined;
  std::optional<int> hyper_cores;  // --mode hyper --cores N
  // `tandem tune --recurring`: one training of many, whose batch size was chosen from how earlier ones went.
  bool recurring = false;
  std::string similarity = "nearest";  // how known work is recognised: a name of tune::similarities()
  // --warm: nothing is searched; every configuration is measured so many times, for later jobs.
  std::optional<std::int64_t> warm_repetitions;

  bool operator==(const TuneJob&) const = default;
};

nlohmann::json to_json(const TuneJob&);
TuneJob tune_job_from_json(const nlohmann::json&);

}  // namespace tandem::spec
