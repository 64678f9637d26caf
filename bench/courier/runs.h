// Courier's measured runs, as the regressions take them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stats/regression/cross_validation.h"

namespace tandem::bench {

struct CourierRuns {
  std::vector<double> batch, cores, jobs, seconds, accuracy;
  std::size_t count() const { return seconds.size(); }
};
// courier/lenet5-bigdl-48.csv in the data folder; nullopt where it is not. UserError: a line that cannot be
// read.
std::optional<CourierRuns> read_courier(const std::string& data);

// Of the columns named: "batch", "cores", "jobs", "processes" (cores x jobs).
std::vector<double> rows_of(const CourierRuns&, const std::vector<std::string>& columns);

constexpr std::size_t kRepeats = 10;  // of ten folds each, seeds from 1 on

}  // namespace tandem::bench
