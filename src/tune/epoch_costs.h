// What an epoch takes by batch size and power limit, as measured; and which limit is worth a slice of an
// epoch to find out.
//
// Physics instead of a sweep: under a tighter limit an epoch takes no less time, and each watt taken away
// costs more time than the one before (time is convex in the limit); the draw falls no lower than the limit.
// So measured limits bound what the others can cost at best, and those that cannot be the cheapest are never
// tried. A limit within a tenth of the best is tried all the same: slices are cheap, and machines have
// quirks. A new batch size begins at the limit that was best for its nearest neighbour.
//
// Short epochs are measured badly: a GPU's energy counter moves ten times a second. The draw is smooth in the
// limit, so where slices say how wrong they may be, a draw is weighed against the curve through all of them,
// and of limits that cannot be told apart the one with the least energy times time is the best.
// Pure; one owner.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "tune/recurring_job.h"

namespace tandem::tune {

class EpochCosts {
 public:
  explicit EpochCosts(const RecurringJob& job) : job_(job) {}

  struct Cell {
    double seconds = 0, joules = 0;  // an epoch
    double weight = 0;               // epochs it is the mean of; old ones fade
    double variance = 0;             // relative, of the joules
  };

  // Whole epochs that take much longer or shorter than those before under the same limit: one or two are an
  // accident and left out; if they go on, the machine or the data changed, and what else was measured is
  // scaled alike. Unless there was hardly anything before: then that was the accident.
  void add(const EpochSlice&);

  const Cell* find(std::int64_t batch, double limit) const;  // null: not measured
  double cost(const Cell&) const;                            // of an epoch
  double error(const Cell&) const;                           // of that cost, one deviation
  struct Best {
    double limit = 0, cost = 0;
  };
  std::optional<Best> best(std::int64_t batch) const;  // of the measured limits
  // The draw smoothed where it was measured badly.
  std::map<double, Cell> smooth(const std::map<double, Cell>&) const;
  // The limit that the next slice of this batch size should run under to learn something; nothing when the
  // rest cannot be better than the best.
  std::optional<double> worth_probing(std::int64_t batch) const;
  const std::map<std::int64_t, std::map<double, Cell>>& cells() const { return cells_; }

 private:
  static void take_in(Cell&, const EpochSlice&);
  static bool odd(const Cell&, const EpochSlice&);
  double first_limit(std::int64_t batch) const;
  double at_best(const std::map<double, Cell>&, double limit) const;
  void scale_all(double seconds, double joules);

  RecurringJob job_;
  std::map<std::int64_t, std::map<double, Cell>> cells_;
  std::map<std::pair<std::int64_t, double>, Cell> odd_;  // what was unlike its cell of late
};

}  // namespace tandem::tune
