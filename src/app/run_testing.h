// For tests: what a run of its own would have journalled, decided by its kind's own policies, without a world.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/kinds.h"
#include "base/error.h"
#include "control/loop.h"
#include "spec/any_job.h"
#include "store/store.h"

namespace tandem::app::sample {

// A program that takes `epoch_seconds` an epoch on one core, and half of it on two; its accuracy comes near to 1.
struct Training {
  double epoch_seconds = 10;
  std::optional<double> joules_a_second = 3.0;
  std::int64_t fails_in = 0;  // in this epoch, in every attempt; 0: never
};

// A run until nothing is left to be done, or until so many epochs were reported. Decisions are answered as a world would
// answer them that has one node with two cores.
class Played {
 public:
  explicit Played(const spec::Job& job, Training training = {}, std::int64_t epochs = -1)
      : decider_(policies_for(job)), training_(training), epochs_left_(epochs) {
    happens(NodeJoined{0, "here", {2, 8 * kGiB, 1.0}, "a machine, 2 cores", {}});
    happens(JobSubmitted{0, job});
    while (!orders_.empty()) {
      const Decision next = orders_.front();
      orders_.erase(orders_.begin());
      carry_out(next);
    }
  }
  const View& view() const { return decider_.view(); }
  const std::vector<control::Entry>& entries() const { return entries_; }
  Seconds now() const { return now_; }

 private:
  void happens(EventBody body) {
    entries_.push_back(decider_.step({now_, std::move(body)}));
    for (const auto& decision : entries_.back().decisions) orders_.push_back(decision);
  }
  void carry_out(const Decision& decision) {
    if (const auto* start = std::get_if<Start>(&decision.body)) {
      happens(TaskStarted{start->task, start->attempt, decision.id, 100, 1, {0}});
      epoch(start->task, start->attempt);
    } else if (const auto* resize = std::get_if<Resize>(&decision.body)) {
      happens(SystemChanged{resize->task, resize->attempt, decision.id, resize->granted});
    } else if (const auto* go_on = std::get_if<Continue>(&decision.body)) {
      epoch(go_on->task, task(go_on->task).attempt);
    } else if (const auto* stop = std::get_if<Stop>(&decision.body)) {
      happens(TaskEnded{stop->task, stop->attempt, energy_of(0)});
    }
  }
  void epoch(TaskId id, Attempt attempt) {
    const std::int64_t number = task(id).reported() + 1;
    if (epochs_left_ == 0) return;
    if (number == training_.fails_in)
      return happens(TaskFailed{id, attempt, Failure::crashed, "it broke", "last words", {}});
    if (number > what_runs(view(), task(id)).epochs) return happens(TaskEnded{id, attempt, energy_of(0)});
    --epochs_left_;
    const double seconds = training_.epoch_seconds / task(id).granted.cores;
    now_ += Seconds{seconds};
    happens(EpochEnded{id, attempt, number, {{"accuracy", 1 - 1.0 / static_cast<double>(number + 1)}}, Seconds{seconds},
                       energy_of(seconds), {}});
  }
  std::optional<Energy> energy_of(double seconds) const {
    if (!training_.joules_a_second) return std::nullopt;
    return Energy{Joules{seconds * *training_.joules_a_second}, "rapl"};
  }
  const TaskView& task(TaskId id) const { return view().tasks[static_cast<std::size_t>(id)]; }

  control::Decider decider_;
  Training training_;
  std::int64_t epochs_left_;  // below 0: all
  Seconds now_{1000};
  std::vector<Decision> orders_;
  std::vector<control::Entry> entries_;
};

inline spec::TrainJob training(std::int64_t epochs = 3, int cores = 1) {
  spec::TrainJob job;
  job.name = "mlp";
  job.program.command = {"train"};
  job.hyper = {{"batch_size", std::int64_t{64}}};
  job.epochs = epochs;
  job.system.cores = cores;
  return job;
}

// The same as a run of the store; its journal keeps the run's state.
inline store::RunInfo keep(store::Store& store, const spec::Job& job, const Played& played) {
  const auto run = store.create_run(spec::kind_of(job), spec::base_of(job).name, spec::to_json(job).dump(), Seconds{1000});
  store.journal(run.id)->append(played.entries());
  return store.find(run.id);
}

}  // namespace tandem::app::sample
