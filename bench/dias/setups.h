// DiAS' set-ups, and what policies come to on them in the simulator. Every number the thesis leaves open is
// chosen in setups.cpp, with why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/sim_validation/report.h"
#include "place/dias/dias_deflator.h"
#include "sim/dias/dias.h"

namespace tandem::bench {

inline constexpr int kSlots = 20;
inline constexpr double kGraphTimeout = 65;  // s

place::AccuracyCurve measured_curve();  // figure 4.5

// Word counts on a data set of so many MB, in the reference set-up's seconds.
place::DiasJob text_job(double megabytes);
// Triangle counts: a chain of stages.
place::DiasJob graph_job();

struct TextSetup {
  double high_mb = 473, low_mb = 1117;
  double high_share = 0.1;  // of the jobs
  double load = 0.8;        // offered without dropping and evicting
};
place::DiasSystem text_system(const TextSetup&);
place::DiasSystem three_priorities();
place::DiasSystem graph_system();  // high and low alike, 3 to 7
place::SprintLimit graph_limit(const place::PowerStates&);
// Steps of micro-batches on four workers.
place::DiasSystem training_system();

// Arrivals in these proportions so that the slots are busy for `load` of the time when nothing is dropped.
stats::MarkedArrivals arrivals_for(const std::vector<place::DiasClass>&, int slots,
                                   const std::vector<double>& shares, double load);

struct Policy {
  std::string name{};
  stats::Discipline discipline = stats::Discipline::non_preemptive;
  place::DiasChoice choice{};
  std::optional<place::SprintLimit> limit{};
};
// "P" (kill and restart), "NP", and "DA(0,10)" for drops of 0 and 10 %.
Policy evicting(std::size_t classes);
Policy dropping(const std::vector<double>& drops);
// A policy that also sprints the first class.
Policy sprinting(Policy, std::string name, double timeout, std::optional<place::SprintLimit>);

struct Seen {
  struct Class {
    double mean = 0, p95 = 0, queueing = 0, executing = 0;  // s
    double half_width = 0;                                  // of the mean, relative
  };
  std::string policy{};
  std::vector<Class> classes{};
  double load = 0, waste = 0, sprinting = 0;  // shares
  double watts = 0;                           // on average
  std::uint64_t jobs = 0;
};

// All on the same arrivals; those that drop alike on the same jobs too.
std::vector<Seen> play(const place::DiasSystem&, const std::vector<Policy>&, const sim::DiasPrecision&,
                       std::uint64_t seed = 1);
// What the queueing model says of a policy.
place::DiasPrediction modelled(place::DiasSystem, const Policy&, place::Detail);

// Relative differences to the first policy, which is evicting.
Table latency_table(const std::string& caption, const place::DiasSystem&, const std::vector<Seen>&);
double change(double now, double before);  // -0.2: a fifth less

// Numbers of the thesis beside ours.
class Claims {
 public:
  void add(const std::string& what, const std::string& theirs, const std::string& ours) {
    table_.rows.push_back({what, theirs, ours});
  }
  Table table() const { return table_; }

 private:
  Table table_{"The thesis' words beside ours", {"what", "thesis", "here"}, {}};
};

}  // namespace tandem::bench
