// What a long simulation saw of one quantity: its mean and how sure that is, and its percentiles.
//
// Values that follow each other depend on each other, so the interval comes from the means of long batches:
// batches are merged in pairs whenever there are too many, so there are always 32 to 63 of them and they grow
// with the simulation. Percentiles come from bins a thousandth wide. One owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::sim {

class DiasTally {
 public:
  void add(double value);  // above 0

  std::uint64_t count() const { return count_; }
  double mean() const;
  double half_width() const;  // of the mean's 95 % interval; infinity while there are too few
  double percentile(double p) const;

 private:
  static constexpr std::size_t kMostBatches = 64;

  std::vector<double> batches_;  // sums
  std::uint64_t batch_size_ = 64, in_batch_ = 0, count_ = 0;
  double batch_ = 0, sum_ = 0;
  std::vector<std::uint64_t> bins_;
};

}  // namespace tandem::sim
