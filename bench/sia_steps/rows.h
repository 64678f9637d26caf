// Measured steps of distributed training (sia/ in the data folder), as the regressions take them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stats/regression/cross_validation.h"

namespace tandem::bench {

// GPUs by node are a multiset: in which order nodes are named changes nothing.
inline const std::vector<std::string> kStepColumns = {"batch", "replicas", "nodes", "largest", "smallest"};

struct StepSet {
  std::string application{}, cluster{}, file{};  // file: "placements" or "scalability"
  std::vector<double> rows{}, seconds{};
  std::vector<std::string> gpus_by_node{};  // "1+3": where it ran, in whatever order of nodes
  std::vector<std::string> alike{};         // rows of the same name are physically the same

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

// How far a perfect model would be off, which knows the true mean of rows that are physically the same: the
// mean relative distance from their own mean, scaled as n normal draws lie closer to that; nullopt where none
// are alike.
std::optional<double> noise_floor(const StepSet&);

// The same where nothing was measured twice: kinks along the batch size that other placements do not have. A
// kink is a step's logarithm less the middle of its two neighbours'; its distance from the median kink there
// is noise of three rows. Taken as noise with tails (Laplace's). Kinks that are a placement's own count as
// noise. nullopt where there are no three neighbours on three placements.
std::optional<double> noise_in_kinks(const StepSet&);

}  // namespace tandem::bench
