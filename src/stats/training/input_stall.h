// Runs that waited for their input, told from runs on one and on two nodes.
//
// Where many of the runs with several replicas on one node took much longer than the law says, and longer in
// proportion to their batch, it is a rate of input that held them up, not their work: they are left out of
// the fit, and on more nodes than any run had, whose caches nobody warmed, the slowest of these rates is
// taken to hold. A rate must be one: where those runs' rates differ nearly as much as their batches, they
// waited for something else, or it is noise. Never more than `kMost` times the slowest run of such a batch or
// a smaller one. Values; pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stats/training/training_law.h"

namespace tandem::stats {

class InputStall {
 public:
  static constexpr double kMost = 2.5;

  // Which rows stalled; none where too few did to tell, or where rows on one and on two nodes are not all.
  static std::vector<bool> stalled(std::span<const TrainingRow>, std::span<const double> seconds,
                                   const TrainingLaw&);
  // Of the rows that stalled; nothing where they have no rate in common.
  static std::optional<InputStall> found(std::span<const TrainingRow>, std::span<const double> seconds,
                                         const std::vector<bool>& stalled);

  // The least a step takes; 0 where nothing is known.
  double least(const TrainingRow&) const;
  double rate() const { return rate_; }  // records a second and replica

  nlohmann::json written() const;
  static InputStall read(const nlohmann::json&);

 private:
  double rate_ = 0, beyond_nodes_ = 0;
  std::vector<std::pair<double, double>> slowest_{};  // by batch: seconds of it or a smaller one; both rise
};

}  // namespace tandem::stats
