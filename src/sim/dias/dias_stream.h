// DiAS, simulated: jobs that arrive, each with the time it holds the slots.
//
// A job runs alone on all slots, stage by stage: every task's length is drawn, and each goes to the slot that
// is free first. So its time is known when it arrives; a sprint speeds all slots up alike and only scales
// what is left of it. Arrivals and lengths are drawn from different streams of the seed: the same seed gives
// the same arrivals whatever the jobs are. One owner.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "place/dias/dias_job.h"
#include "stats/queues/marked_arrivals.h"

namespace tandem::sim {

struct DiasArrival {
  double at = 0;          // s
  std::size_t which = 0;  // class; 0 is the highest priority
  double work = 0;        // s of all slots at the usual speed
};

// One job's time on the slots.
class DiasSlots {
 public:
  explicit DiasSlots(int slots) : slots_(slots) {}
  double run(const place::DiasJob&, Random&);

 private:
  double run_tasks(int tasks, double mean, int shape, Random&);

  int slots_;
  std::vector<double> free_;  // when each slot is; sorted
};

class DiasStream {
 public:
  // One job description a class; UserError where they do not fit or cannot be.
  DiasStream(stats::MarkedArrivals, std::vector<place::DiasJob>, int slots, std::uint64_t seed);

  DiasArrival next();

 private:
  struct Way {  // out of a phase: arrivals and hidden jumps, by their summed rates
    double up_to = 0;
    std::size_t which = 0, to = 0;
    bool hidden = false;
  };

  std::vector<std::vector<Way>> ways_;  // by phase
  std::vector<place::DiasJob> jobs_;
  DiasSlots slots_;
  Random arrivals_, lengths_;
  double now_ = 0;
  std::size_t phase_ = 0;
};

}  // namespace tandem::sim
