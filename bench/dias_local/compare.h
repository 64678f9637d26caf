// The policies on this machine and in the simulator, on the same arrivals, and whether they move the same
// way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/dias_local/calibrate.h"
#include "bench/sim_validation/report.h"

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
    std::size_t jobs = 0;
  };
  std::vector<Class> classes{};
  double waste = 0, sprinted = 0;  // share of busy time; s
  std::optional<double> joules{};
  std::string energy_source{};
};

Outcome really(Stage&, const Contender&, const Calibration&, const std::vector<sim::DiasArrival>&);
Outcome simulated(const Contender&, const Calibration&, const std::vector<sim::DiasArrival>&);

struct Comparison {
  Contender contender{};
  Outcome here{}, there{};
};

Table outcome_table(const std::string& caption, const std::vector<Comparison>&, bool here);
// Asked, measured, ok or MISSED; the first of them evicts.
struct Judged {
  Table table{};
  std::size_t held = 0, missed = 0;
};
Judged judge(const std::vector<Comparison>&, double low_loss);

}  // namespace tandem::bench
