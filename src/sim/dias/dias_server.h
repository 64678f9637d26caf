// DiAS, simulated: a buffer for each priority in front of slots that one job holds at a time.
//
// The job at the head of the highest buffer that is not empty goes next. Without preemption it stays until
// its end; with it, a higher arrival sends it back to the head of its buffer, to go on there (resume) or to
// begin again (restart: its time so far is waste). After its class's timeout a job sprints, as far as the
// budget goes. Jobs come in the order of time; everything between two arrivals is worked off in closed form,
// so the simulation is exact. One owner.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "place/dias/dias_sprint.h"
#include "sim/dias/dias_stream.h"
#include "sim/dias/dias_tally.h"
#include "stats/queues/priority_model.h"

namespace tandem::sim {

struct DiasServerOptions {
  stats::Discipline discipline = stats::Discipline::non_preemptive;
  place::PowerStates power{};
  // By class: sprint after so long; none: never. Only without preemption, as DiAS does it.
  std::vector<std::optional<Seconds>> timeouts{};
  std::optional<place::SprintLimit> limit{};  // none: sprint without end
};

struct DiasClassTally {
  DiasTally response{};                // s, from arrival to end
  double queueing = 0, executing = 0;  // s, sums; executing is the run that came to its end
};

struct DiasAccount {
  double seconds = 0;                         // simulated
  double busy = 0, wasted = 0, sprinted = 0;  // s of it

  double load() const { return busy / seconds; }
  double waste() const { return busy > 0 ? wasted / busy : 0; }  // of machine time, worked for nothing
};

class DiasServer {
 public:
  DiasServer(std::size_t classes, DiasServerOptions);

  void arrive(const DiasArrival&);  // not before the last one
  // What was seen so far does not count: the queue has filled up to how it usually is.
  void forget();

  const DiasClassTally& seen(std::size_t which) const { return seen_[which]; }
  std::size_t classes() const { return seen_.size(); }
  const DiasAccount& account() const { return account_; }
  Joules joules() const;  // over the time that counts
  std::size_t waiting() const;

 private:
  struct Job {
    double arrived = 0, work = 0, left = 0;
    double served = 0;  // s it held the slots, lost attempts left out
  };

  bool preempts() const { return options_.discipline != stats::Discipline::non_preemptive; }
  void dispatch(double now);
  void complete();
  void evict(double now);

  DiasServerOptions options_;
  double speed_;
  place::SprintBudget budget_;
  std::vector<std::deque<Job>> buffers_;
  std::vector<DiasClassTally> seen_;
  DiasAccount account_;
  double forgotten_until_ = 0;
  // The job on the slots.
  bool running_ = false;
  std::size_t which_ = 0;
  Job job_{};
  double started_ = 0, ends_ = 0, sprints_ = 0;
};

}  // namespace tandem::sim
