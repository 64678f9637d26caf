// Tunes system parameters inside the epochs of a job's trials: PipeTune's Algorithm 1, and past it.
//
// A trial's first epoch runs in the reference configuration (fewest cores, most memory, full speed) and is
// its profile. Then, in this order: a workload class of this job is alike: join it. An earlier job's workload
// class is alike, within the limit: reuse what was measured there. Else it is a new workload class, to be
// probed. New trials are presumed to be like the workload class of their batch size that has most trials, and
// skip the profiling.
//
// Where only time counts, cores are left to the allocator: every core count is an option with its expected
// time, so that a configuration is probed when cores would idle otherwise: probing never makes a trial wait.
// Speed is then always full, since less is
// never faster. Where energy counts, configurations are probed one an epoch and the best by cost is kept:
// joules, or joules times seconds where both are goals, or the objective's own weights (its cost). Memory is
// the smallest choice that holds what the work was seen to use.
//
// GPU settings are probed on slices of an epoch where epochs are long and the program tells its progress (as
// Zeus does): a slice is a part of an epoch in one configuration, scaled up.
//
// When the machine's load shifts, a workload class forgets and is probed again. One owner; pure.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "event/view.h"
#include "spec/tune_job.h"
#include "tune/similarity.h"
#include "tune/workload_class.h"

namespace tandem::tune {

struct SystemPlan {
  std::vector<Option> options;  // empty: no configuration satisfies the constraints
  Phase phase = Phase::none;
  std::int32_t workload = -1;
  bool slices = false;  // GPU settings shall be tried on parts of the epoch: it is long
};

// How a task's GPUs shall be set in the middle of an epoch.
struct SlicePlan {
  Resources resources;
  bool more = false;  // there is more to try
};

class SystemTuner {
 public:
  SystemTuner(const spec::TuneJob&, const NodeView&, std::vector<KnownWorkload> known);

  // What a second costs from now on, where energy and time are weighed (goals.h).
  void set_time_price(Watts price) { time_price_ = price; }
  // How to run the next epoch of a trial.
  SystemPlan plan(TaskId, const Values& hyper);
  // An epoch of the trial has ended; it is the last of task.epochs.
  void ended(const TaskView&, const Values& hyper);

  // A part of an epoch has ended.
  void saw(const TaskView&, const SliceEnded&);
  // What its GPUs shall be set to for the next part; none: nothing changes.
  std::optional<SlicePlan> retune(const TaskView&, const Values& hyper) const;

  // History: the trial was taken to be of this workload class; -1: it was not known.
  void assign(TaskId, std::int32_t workload);

  std::int32_t workload_of(TaskId) const;  // -1: not known
  int shifts() const { return shifts_; }
  std::vector<KnownWorkload> learned() const;

  nlohmann::json save() const;  // what it saw of this job, exactly
  void restore(const nlohmann::json&);

 private:
  std::vector<Resources> configurations(const Values& hyper) const;
  Bytes memory_for(const WorkloadClass*, const std::vector<Bytes>& choices) const;
  std::int32_t classify(const EpochRecord&, double batch);
  std::int32_t presumed(double batch) const;
  SystemPlan plan_for_time(const std::vector<Resources>&, std::int32_t workload) const;
  std::pair<Resources, Cost> quickest(const WorkloadClass&, const std::vector<Resources>&) const;
  bool worth_slicing(const WorkloadClass&) const;
  bool clearly_rising(const WorkloadClass&, const std::vector<Resources>& higher) const;
  bool past_the_best(const WorkloadClass&, const Resources&) const;
  double warmth() const;
  Cost expected(const WorkloadClass&, const Resources&) const;
  SystemPlan plan_for_energy(const std::vector<Resources>&, std::int32_t workload) const;  // and for warming
  double cost(const Cost&) const;

  spec::TuneJob job_;
  std::string machine_;
  spec::SystemSpace space_;  // what of it this machine can give
  Resources reference_;
  bool energy_counts_ = false, time_counts_ = false;
  Watts time_price_;
  std::vector<KnownWorkload> known_;
  std::unique_ptr<Similarity> known_works_;
  std::vector<WorkloadClass> workloads_;
  std::map<TaskId, std::int32_t> workload_of_;
  int shifts_ = 0;
};

// What of the spec's system space a node can give; cores that were not in the spec: 1, 2, 4 … and all. Where
// a GPU's power or clock may not be set, it is left as it is (0).
spec::SystemSpace on_node(const spec::SystemSpace&, const NodeView&);
// How many trials the node's GPUs have room for at once; as many as you like where they use none.
int gpu_places(const spec::SystemSpace&, const NodeView&);
// Is this epoch the first its process ran?
bool first_of_process(const TaskView&, std::size_t epoch);
// The batch size among hyperparameters; 0 where there is none.
double batch_of(const Values& hyper);

}  // namespace tandem::tune
