// Measured steps of distributed training (sia/ in the data folder), as the regressions take them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stats/cross_validation.h"

namespace tandem::bench {

// GPUs by node are a multiset: in which order nodes are named changes nothing.
inline const std::vector<std::string> kStepColumns = {"batch", "replicas", "nodes", "largest", "smallest"};

struct StepSet {
  std::string application{}, cluster{}, file{};  // file: "placements" or "scalability"
  std::vector<double> rows{}, seconds{};
  std::vector<std::string> alike{};  // rows of the same name are physically the same

  std::string name() const { return application + "/" + file + "-" + cluster; }
  std::size_t count() const { return seconds.size(); }
  std::span<const double> row(std::size_t i) const;
  double gpus(std::size_t i) const { return row(i)[1]; }
  stats::Examples examples() const { return {rows, seconds, kStepColumns.size()}; }
  StepSet only(const std::vector<bool>& chosen) const;
};

// Every application and cluster there is, in order of their names; nullopt where the folder is not.
// UserError: a line that cannot be read.
std::optional<std::vector<StepSet>> read_steps(const std::string& data);

// How far rows that are physically the same lie from each other: the mean distance from the mean of the
// others that are alike, scaled to what a perfect prediction would miss by; nullopt where none are alike.
std::optional<double> noise_floor(const StepSet&);

}  // namespace tandem::bench
