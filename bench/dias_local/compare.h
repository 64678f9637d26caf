// The policies on this machine and in the simulator, on the same arrivals, and whether they move the same
// way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/dias_local/calibrate.h"
#include "bench/sim_validation/report.h"
#include "sim/dias/dias_server.h"

namespace tandem::bench {

struct Contender {
  std::string name{};
  stats::Discipline discipline = stats::Discipline::non_preemptive;
  place::DiasChoice choice{};
  std::optional<place::SprintLimit> limit{};
};
// Evicting, non-preemptive, dropping as the deflator chose, and that with sprinting where it chose so.
std::vector<Contender> contenders(const place::DiasSystem&, const place::DiasChoice&);

// What one came to, here or simulated.
struct Outcome {
  struct Class {
    double mean = 0, p95 = 0;  // s
    double loss = 0;           // mean
    double executing = 0;      // s, mean: where it is not the simulator's, the machine's speed has changed
    std::size_t jobs = 0;
  };
  std::vector<Class> classes{};
  double waste = 0, sprinted = 0;  // share of busy time; s
  std::optional<double> joules{};
};

// A policy on this machine, round after round.
class Real {
 public:
  void play(Stage&, const Contender&, const Calibration&, const std::vector<bags::BagArrival>&);
  Outcome outcome() const;
  const std::vector<double>& low_means() const { return low_means_; }  // by round

 private:
  struct Class {
    std::vector<double> responses, losses, executions;
  };
  Class classes_[2];
  Seconds busy_{}, wasted_{}, sprinted_{};
  std::optional<Joules> joules_ = Joules{};
  std::vector<double> low_means_;
};

// The same in the simulator, with each round's measured times. Rounds are far apart, so that each begins with
// nobody there and a full budget, as it does here.
class Simulated {
 public:
  Simulated(const Contender&, const Calibration&);
  void play(const Contender&, const Calibration&, const std::vector<bags::BagArrival>&);
  Outcome outcome(const Contender&, const Calibration&);

 private:
  sim::DiasServer server_;
  double begin_ = 0;
};

struct Comparison {
  Contender contender{};
  Outcome here{}, there{};
  std::vector<double> low_means{};  // s, here, by round
};

Table outcome_table(const std::string& caption, const std::vector<Comparison>&, bool here);
// How far the rounds lie apart.
Table spread_table(const std::vector<Comparison>&);
// Asked, measured, ok or MISSED; the first of them evicts.
struct Judged {
  Table table{};
  std::size_t held = 0, missed = 0;
};
Judged judge(const std::vector<Comparison>&, double low_loss);

}  // namespace tandem::bench
