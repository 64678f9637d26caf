// DiAS: the deflator. It chooses what share of each class's tasks is dropped and after how long its jobs
// sprint, by asking a queueing model what each choice would come to.
//
// Assumes: the work is known (arrivals, stages, task times) and does not change; the loss of accuracy depends
// on the drop ratio alone, by a curve measured beforehand; one job holds all slots. The model is phase-type
// job times (place/dias/dias_job.h) in a priority queue (stats/queues/priority_model.h;
// stats/queues/marked_model.h for arrivals of two phases). Sprinting without end is exact in it. A budget is
// an approximation: the share of the wanted sprint seconds that the refill pays for is the share of jobs that
// sprint; how full the budget happens to be is not seen.
//
// Rules: every combination of the offered drops and timeouts is tried; out go those that lose more accuracy
// than allowed or miss a latency; of the rest the one with the least weighted sum of slowdown, loss and power
// is taken, and of equals the first, so that less is dropped and sprinted. Plain values and pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "place/dias/dias_job.h"
#include "place/dias/dias_sprint.h"
#include "stats/queues/marked_arrivals.h"
#include "stats/queues/priority_model.h"

namespace tandem::place {

// Measured pairs of drop ratio and loss, both shares; between them it is linear, from (0, 0) on.
class AccuracyCurve {
 public:
  struct Point {
    double drop = 0, loss = 0;
  };
  AccuracyCurve() = default;  // nothing was measured: only dropping nothing has a known loss
  explicit AccuracyCurve(std::vector<Point> rising);  // UserError unless both rise

  bool knows(double drop) const { return drop <= points_.back().drop + 1e-12; }
  double loss(double drop) const;       // UserError beyond what was measured
  double most_drop(double loss) const;  // the largest measured-for drop that loses no more

 private:
  std::vector<Point> points_{{0, 0}};
};

struct DiasClass {
  std::string name{};
  DiasJob job{};
  AccuracyCurve accuracy{};
};

struct DiasSystem {
  std::vector<DiasClass> classes{};  // the highest priority first
  stats::MarkedArrivals arrivals{};
  int slots = 1;
  stats::Discipline discipline = stats::Discipline::non_preemptive;
  PowerStates power{};
  std::optional<SprintLimit> limit{};  // none: sprint without end
};

// One entry a class.
struct DiasChoice {
  std::vector<double> drops{};
  std::vector<std::optional<Seconds>> timeouts{};  // none: never sprint
};

struct DiasPrediction {
  struct Class {
    double response = 0, p95 = 0;  // s; infinite where the queue does not settle
    double executing = 0;          // s, mean
    double loss = 0;
  };
  std::vector<Class> classes{};
  double load = 0, waste = 0;
  double sprinting = 0;    // share of time
  double sprint_paid = 1;  // share of the wanted sprint time that the refill pays for
  Watts power{};           // on average
};

enum class Detail { means, percentiles };
DiasPrediction predict(const DiasSystem&, const DiasChoice&, Detail);

struct DiasTarget {                          // of a class
  std::optional<Seconds> response{}, p95{};  // at most
  double loss = 0;                           // at most
};

struct DiasSearch {
  std::vector<double> drops{0};                      // offered to every class
  std::vector<std::optional<Seconds>> timeouts{{}};  // offered to the sprinting classes
  std::vector<bool> sprints{};                       // by class; none: nobody
  // Of the sum over classes of response / own full execution; of their losses; of the power / base power.
  double latency = 0, accuracy = 1, power = 0;
};

struct DiasDecision {
  DiasChoice choice{};
  DiasPrediction predicted{};
  double cost = 0;
  std::size_t tried = 0, feasible = 0;
};

// Nothing where no choice meets the targets.
std::optional<DiasDecision> choose(const DiasSystem&, const std::vector<DiasTarget>&, const DiasSearch&);

}  // namespace tandem::place
