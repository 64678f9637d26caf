// What past runs told by epoch, as points of learning curves.
//
// Runs of one batch size and learning rate are averaged by epoch: they are one curve, seen several times.
// Long runs are thinned (every epoch at first, then ever fewer), and of very many settings every so many-th
// is taken: kMostPoints is enough for a handful of parameters, and keeps fitting quick. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "advise/history.h"
#include "advise/learning_curve.h"

namespace tandem::advise {

inline constexpr std::size_t kMostPoints = 1500;

struct ToldMetric {
  std::int64_t epoch = 0;
  double value = 0;
};

// Those of the run that are finite, as it told them.
std::vector<ToldMetric> every_metric(const PastRun&, const std::string& metric);
std::optional<ToldMetric> last_metric(const PastRun&, const std::string& metric);  // nullopt: none

double curve_batch(const Setting&);          // 1 where it does not say
double curve_learning_rate(const Setting&);  // the same

std::vector<CurvePoint> curve_points(std::span<const PastRun* const>, const std::string& metric);

}  // namespace tandem::advise
