#include "sim/dias/dias_tally.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace tandem::sim {
namespace {

constexpr double kBinsAnE = 1000;   // bins a factor of e
constexpr double kSmallest = 1e-6;  // what is below lands in the first bin
constexpr double kStudent = 2.04;   // 95 %, 31 degrees of freedom: the fewest batches
constexpr std::size_t kFewestBatches = 32;

}  // namespace

void DiasTally::add(double value) {
  assert(value >= 0);
  ++count_;
  sum_ += value;
  batch_ += value;
  const auto bin = static_cast<std::size_t>(std::max(0.0, kBinsAnE * std::log(value / kSmallest)));
  if (bin >= bins_.size()) bins_.resize(bin + 1, 0);
  ++bins_[bin];
  if (++in_batch_ < batch_size_) return;
  batches_.push_back(batch_);
  batch_ = 0, in_batch_ = 0;
  if (batches_.size() < kMostBatches) return;
  for (std::size_t i = 0; i < kMostBatches / 2; ++i) batches_[i] = batches_[2 * i] + batches_[2 * i + 1];
  batches_.resize(kMostBatches / 2);
  batch_size_ *= 2;
}

double DiasTally::mean() const {
  return count_ ? sum_ / static_cast<double>(count_) : 0;
}

double DiasTally::half_width() const {
  if (batches_.size() < kFewestBatches) return std::numeric_limits<double>::infinity();
  const double n = static_cast<double>(batches_.size()), size = static_cast<double>(batch_size_);
  double sum = 0, square = 0;
  for (const double batch : batches_) sum += batch / size, square += batch / size * (batch / size);
  const double variance = std::max(0.0, (square - sum * sum / n) / (n - 1));
  return kStudent * std::sqrt(variance / n);
}

double DiasTally::percentile(double p) const {
  const double wanted = p * static_cast<double>(count_);
  double seen = 0;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    const double here = static_cast<double>(bins_[bin]);
    if (here > 0 && seen + here >= wanted)
      return kSmallest * std::exp((static_cast<double>(bin) + (wanted - seen) / here) / kBinsAnE);
    seen += here;
  }
  return 0;
}

}  // namespace tandem::sim
