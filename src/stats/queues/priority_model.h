// One server, several priorities: how long a customer is there, from arrival to end.
//
// Poisson arrivals, any service times, first come first served within a class; M[K]/G[K]/1. Means of the
// non-preemptive and the preemptive-resume queue are the classical formulas (Pollaczek and Khinchine, Cobham,
// Jaiswal); percentiles invert the exact transforms, in which higher classes appear as busy periods that
// stretch time: while a customer waits or is served for t, the clock shows t plus the busy periods begun in
// t.
//
//   non_preemptive      who is served stays until the end
//   preemptive_resume   evicted by a higher class, goes on later where it was (the cited method's meaning)
//   preemptive_restart  evicted by a higher class, begins again from zero with the same service time (what
//                       systems that kill jobs do). Exact but for the average over the service time, which is
//                       taken over its slices: long rare times weigh exponentially, so heavy spreads come out
//                       low
//
// Classes stand in the order they are served: the first is the highest. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "stats/queues/service_time.h"

namespace tandem::stats {

enum class Discipline { non_preemptive, preemptive_resume, preemptive_restart };
const char* name_of(Discipline);

struct QueueClass {
  double rate = 0;  // arrivals a second
  ServiceTime service{};
};

class PriorityModel {
 public:
  PriorityModel(std::vector<QueueClass> highest_first, Discipline);

  // The share of time the server works, what it does twice included. At 1 and above nothing settles.
  double load() const { return load_; }
  // The share of that work which was lost to evictions and is done again; only restarting has any.
  double waste() const { return waste_; }
  // Whether the class's queue settles: it and, as far as they are in its way, the others leave time enough.
  bool settles(std::size_t which) const;

  // Time from arrival to end; infinity where the queue does not settle.
  double mean_response(std::size_t which) const;
  double percentile(std::size_t which, double p) const;  // p = 0.95: one in twenty takes longer
  Complex response_transform(std::size_t which, Complex s) const;

 private:
  bool restarts() const { return discipline_ == Discipline::preemptive_restart; }
  Complex stretched(std::size_t which, Complex s) const;
  Complex completion(std::size_t which, Complex s) const;
  Complex waiting_non_preemptive(std::size_t which, Complex s) const;
  Complex response_preemptive(std::size_t which, Complex s) const;

  std::vector<QueueClass> classes_;
  Discipline discipline_;
  double load_ = 0, waste_ = 0;
  std::vector<double> higher_rate_, higher_load_;      // of the classes above each
  std::vector<std::vector<PhaseType::Slice>> slices_;  // of the services, where they restart
  std::vector<double> attempts_;                       // mean time served, lost attempts included
  std::vector<double> stretch_;  // how much longer a second takes with the classes above in the way
};

}  // namespace tandem::stats
