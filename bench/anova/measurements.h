// Courier's measurements (data/courier), as columns.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tandem::bench {

using Columns = std::map<std::string, std::vector<double>>;

// A file of numbers with a header. SystemError: it cannot be read; UserError: a line that does not fit
// (which).
Columns read_columns(const std::string& path);

// lenet5-bigdl-48.csv: 47 single runs with time, final_accuracy, cpu_mean and iowait_mean.
Columns single_runs(const std::string& data);

// fullfactorial-means-48.csv as runs: six of each cell that have exactly its mean and deviation, three above
// and three below. Least squares depend on the runs of a cell through these alone, so every table comes out
// as of the 288 runs themselves, but for the network's part, which is in the deviations.
Columns runs_of_means(const std::string& data);

}  // namespace tandem::bench
