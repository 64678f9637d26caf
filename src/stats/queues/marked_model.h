// One server, several priorities, arrivals whose rates change with a hidden phase: MMAP[K]/G[K]/1, one or two
// phases; without preemption, and preemptive-resume.
//
// The work in front of a customer is a function of its transform and the phase (two unknowns a point); the
// time to work it off, with the arrivals of higher classes that come meanwhile, is a matrix exponential whose
// exponent is a fixed point of two by two numbers. Percentiles invert the exact transforms, means are their
// slope at 0. Exact but for one case: without preemption and with two classes or more below the one asked
// for, those that start from the buffers are taken to be mixed alike in both phases.
//
// More phases, and restarting, have no model here: simulate them (sim/dias/dias.h). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "stats/queues/marked_arrivals.h"
#include "stats/queues/priority_model.h"

namespace tandem::stats {

struct Matrix2 {
  Complex a{}, b{}, c{}, d{};  // a b / c d
};
using Row2 = std::array<Complex, 2>;

class MarkedModel {
 public:
  // One service a class, the highest first. UserError for what has no model here.
  MarkedModel(const MarkedArrivals&, std::vector<ServiceTime>, Discipline);

  double load() const { return load_; }
  bool settles(std::size_t which) const;
  double mean_response(std::size_t which) const;  // infinity where the queue does not settle
  double percentile(std::size_t which, double p) const;
  Complex response_transform(std::size_t which, Complex s) const;

 private:
  // What lower classes put in front of a class that cannot evict them.
  struct Below {
    Row2 hits{};                // how often the work of the class and those above runs out, by phase
    Row2 idles{};               // of these, how often nobody waits
    Row2 idle{};                // share of time nobody is there, by phase
    std::vector<double> mix{};  // of the lower classes among those that start from the buffers
  };

  Matrix2 passage(std::size_t above, Complex s) const;
  Matrix2 balance(std::size_t with, Complex s) const;
  Row2 idle_shares(std::size_t with) const;
  double singular_point(std::size_t with) const;
  Below below(std::size_t which) const;
  Row2 work_resume(std::size_t which, Complex s) const;
  Row2 work_non_preemptive(std::size_t which, Complex s) const;
  Complex mixed_below(std::size_t which, Complex s) const;

  std::vector<ServiceTime> services_;
  Discipline discipline_;
  Matrix2 quiet_{};              // D0 with its diagonal
  std::vector<Matrix2> marked_;  // D1 … DK
  std::vector<double> rates_;
  double load_ = 0;
  std::vector<double> load_to_;  // of a class and all above it
  std::vector<Row2> idle_;       // with only a class and all above it there
  std::vector<Below> below_;
};

}  // namespace tandem::stats
