// The middle of some numbers; of an even count, the mean of the two in the middle. There must be at least
// one.
#pragma once

#include <algorithm>
#include <vector>

namespace tandem::stats {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace tandem::stats
