// How long training takes, as a law of physics with a few numbers to be learnt.
//
//     step     = work/3 + ((work·2/3)^g + sync^g)^(1/g)    gradients come with the backward pass, two thirds
//                                                 of the work; g: how well the two overlap; 1 not at all,
//                                                 large: fully
//     work     = (host^h + device^h)^(1/h)·turns  h: how far the host runs ahead of its device, as g
//     host     = fixed·load + process·(P − 1) + neighbour·(J − 1)
//     device   = batch·(record/cores + serial)·share
//     load     = (1 + (P/room)²)^½                P = cores·jobs/contention processes, J jobs: fixed work
//     waits for room share    = (1 + (P/width)⁴)^¼·(1 + squeeze·(J − 1))      cores and memory shared by J
//     jobs turns    = 1 + (contention − 1)·(waits + stalls·(1 − 1/cores))    threads take turns on a CPU; a
//     team waits
//                                                 for its last one, so teams lose more
//     sync     = 2(R − 1)/R · (net^p + bus^p)^(1/p)    a ring over R replicas: its slowest part decides,
//                                                 almost (p = 3.2)
//     bus      = bus·(1 + more_bus·(G − 2))       G: replicas on the fullest node, 0 where that is one
//     net      = pair·(nodes > 2 ? many : 1) + jitter·√(2 ln nodes)    0 on one node
//     seconds  = step, or startup + steps·step    steps = records·epochs/(batch·replicas)
//
// `batch` is what one replica works through in a step. All numbers are positive and fitted as logarithms, by
// Levenberg-Marquardt on log(seconds) with a loss that a few stalled runs cannot bend (a run that took longer
// than the law says counts less than one that was faster: stalls only ever add time), from several starts.
// A weak prior holds what the rows say nothing of at a harmless value; a term whose columns never change is
// left out. Where no CPU was shared in the rows, sharing one is taken to be fair (waits 1, stalls 0). Whether
// the seconds are of a step or of a job is for the rows to say: what fits better. Deterministic; pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tandem::stats {

// What the law knows of a row; what is not given is 1.
struct TrainingRow {
  double batch = 1, cores = 1, jobs = 1, replicas = 1, nodes = 1;
  double largest = 1;  // replicas on the fullest node
  double records = 1, epochs = 1;
  double contention = 1;  // threads on the fullest of its CPUs, its own included
};

// How much longer, in percent, it takes when one part of it takes 1 % longer. They add up to 1.
struct LawShares {
  double host = 0, device = 0, sync = 0;
};

// What is known of a network before any row on three or more nodes: the middle of a prior, which rows outdo.
struct NetworkPrior {
  double many = 1;                 // a ring's unit over three or more nodes, as a share of that over two
  std::optional<double> jitter{};  // as a share of a usual step; none: next to nothing
};

class TrainingLaw {
 public:
  enum Number {
    fixed,
    record,
    serial,
    room,
    width,
    squeeze,
    process,
    neighbour,
    bus,
    more_bus,
    pair,
    many,
    jitter,
    overlap,
    ahead,
    startup,
    waits,
    stalls,
    kNumbers
  };

  // Seconds must be positive. `whole_job`: the rows tell records or epochs, so prefer seconds of jobs.
  void fit(std::span<const TrainingRow> rows, std::span<const double> seconds, bool whole_job,
           const NetworkPrior& = {});
  double log_seconds(const TrainingRow&) const;
  LawShares shares(const TrainingRow&) const;

  // 0: left out; after them, 1 for seconds of jobs, 0 for seconds of steps.
  std::vector<double> numbers() const;
  void set_numbers(const std::vector<double>&);
  // The share of the work before there are gradients, and p: what laws of earlier versions had otherwise.
  double forward() const { return forward_; }
  double sharpness() const { return sharpness_; }
  void set_form(double forward, double sharpness) { forward_ = forward, sharpness_ = sharpness; }
  bool of_jobs() const { return of_jobs_; }
  double number(Number which) const { return value_[which]; }

 private:
  friend class LawFit;
  struct Step {
    double host, device, sync;
  };
  Step parts_of(const TrainingRow&) const;
  double value_[kNumbers] = {};  // 0: left out
  bool of_jobs_ = false;
  double forward_ = 1.0 / 3, sharpness_ = 3.2;
};

}  // namespace tandem::stats
