#include "trainer/scores.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tandem::trainer {
namespace {

double share(std::int64_t part, std::int64_t of) {
  return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0;
}

}  // namespace

ClassScores::ClassScores(std::int64_t classes) : of_(static_cast<std::size_t>(classes)) {}

void ClassScores::add(std::span<const std::int64_t> predicted, std::span<const std::int64_t> labels) {
  assert(predicted.size() == labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    of_[static_cast<std::size_t>(predicted[i])].predicted += 1;
    of_[static_cast<std::size_t>(labels[i])].there += 1;
    of_[static_cast<std::size_t>(labels[i])].right += predicted[i] == labels[i];
  }
}

Metrics ClassScores::metrics() const {
  std::int64_t right = 0, all = 0, classes = 0;
  double precision = 0, recall = 0, f1 = 0;
  for (const Tally& tally : of_) {
    if (tally.predicted + tally.there == 0) continue;
    classes += 1;
    right += tally.right;
    all += tally.there;
    precision += share(tally.right, tally.predicted);
    recall += share(tally.right, tally.there);
    f1 += share(2 * tally.right, tally.predicted + tally.there);
  }
  if (all == 0) return {};
  const auto mean = [&](double sum) { return sum / static_cast<double>(classes); };
  return {{"accuracy", share(right, all)},
          {"precision", mean(precision)},
          {"recall", mean(recall)},
          {"f1", mean(f1)}};
}

void NumberScores::add(std::span<const float> predicted, std::span<const float> targets) {
  assert(predicted.size() == targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double target = targets[i], off = static_cast<double>(predicted[i]) - target;
    squares_ += off * off;
    absolute_ += std::abs(off);
    count_ += 1;
    const double from_mean = target - mean_;
    mean_ += from_mean / count_;
    spread_ += from_mean * (target - mean_);
  }
}

Metrics NumberScores::metrics() const {
  if (count_ == 0) return {};
  const double deviation = std::sqrt(spread_ / count_), root = std::sqrt(squares_ / count_);
  Metrics out{{"error", root / std::max(deviation, 1e-12)},
              {"rmse", root * unit_},
              {"mae", absolute_ / count_ * unit_}};
  if (spread_ > 0) out["r2"] = 1 - squares_ / spread_;
  return out;
}

}  // namespace tandem::trainer
