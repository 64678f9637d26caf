// What a family of learning curves has in common beyond its formula: a number by epoch (a scheduled drop of
// the learning rate lifts all runs at once), which may lean with log(batch) (it lifts large batches more).
//
// Means of what the formula left over, drawn towards 0 where few runs said it; only epochs that kFewestRuns
// runs told count. Between two epochs on a line, beyond the last one as there. A value; pure.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace tandem::advise {

struct LeftOver {
  double batch = 1, epoch = 1, metric = 0;
};

class EpochCorrection {
 public:
  enum class Kind { none, by_epoch, by_epoch_and_batch };
  static constexpr int kFewestRuns = 3;

  EpochCorrection() = default;  // none
  EpochCorrection(Kind, std::span<const LeftOver>);

  double at(double batch, double epoch) const;
  std::string text() const;  // "", ", corrected by epoch", ", corrected by epoch and batch"

  nlohmann::json written() const;
  static EpochCorrection read(const nlohmann::json&);

 private:
  struct Line {  // in log(batch), around `middle`
    double level = 0, slope = 0, middle = 0;
    double at(double log_batch) const { return level + slope * (log_batch - middle); }
  };
  Kind kind_ = Kind::none;
  std::map<double, Line> by_epoch_;
};

}  // namespace tandem::advise
