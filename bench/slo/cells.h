// Courier's measured tables: mean and deviation of the time in each cell of the full factorial, and LeNet5's
// accuracy there. A cell is cpus × batch × jobs.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "advise/history.h"

namespace tandem::bench {

struct CellKey {
  int cpus = 0, batch = 0, jobs = 0;
  auto operator<=>(const CellKey&) const = default;
};

struct Cell {
  int runs = 0;
  double mean = 0, deviation = 0;
  double accuracy = 0;
  bool accuracy_measured = true;  // false: its row is missing; the mean of the batch's others
};

using Cells = std::map<CellKey, Cell>;

// Empty where the tables are not there. UserError where one is damaged.
Cells read_cells(const std::string& data);

// Of each cell except those of `cpus` and `jobs` as many runs as were made, drawn with exactly the stated
// mean and deviation; one of them knows the accuracy.
std::vector<advise::PastRun> history_without(const Cells&, int cpus, int jobs, std::uint64_t seed);

advise::Setting setting_of(const CellKey&);

}  // namespace tandem::bench
