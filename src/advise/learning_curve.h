// A metric as a curve in epochs, for any batch size and learning rate.
//
//     metric(epoch) = end - gap · shape(epoch · rate)
//
// with shape x -> e^-x (saturation) or (1 + x)^-1/2 … (power law), whichever predicts runs it has not seen
// better. `end`, `gap` and log(rate) are linear in log(batch) and log(learning rate), so runs at a few
// batch sizes say something of those between. It goes either way: accuracy rises, a loss falls. What all
// runs have in common beyond that (a scheduled drop of the learning rate) is learnt as a correction by epoch.
// Errors are those of whole runs left out. Values; deterministic; pure.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/forecast.h"

namespace tandem::advise {

struct CurvePoint {
  double batch = 1, learning_rate = 1;  // 1: not known, or all the same
  double epoch = 1, metric = 0;
  std::size_t run = 0;  // points of one run belong together
};

class LearningCurve {
 public:
  // nullopt where no run has kFewestPoints epochs: one point says nothing of a curve.
  static std::optional<LearningCurve> fit(std::span<const CurvePoint>);
  static constexpr std::size_t kFewestPoints = 4;

  Forecast forecast(double batch, double learning_rate, double epoch) const;
  const std::string& shape() const { return shape_; }
  double error() const { return error_; }  // mean of |error| on runs left out
  std::size_t runs() const { return runs_; }

  nlohmann::json written() const;
  static LearningCurve read(const nlohmann::json&);

 private:
  std::string shape_;
  double error_ = 0;
  std::size_t runs_ = 0;
};

}  // namespace tandem::advise
