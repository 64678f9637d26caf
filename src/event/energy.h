// What a stretch of a task drew, and of what: energy never travels without its source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tandem {

// What one kind of device drew of it. Without a source nobody could tell: the total is then "at least".
struct EnergyPart {
  std::string of;  // "CPU" (with all that is no GPU), "GPU"; empty: not told apart
  Joules joules;
  std::string source;
  std::optional<Joules> idle{};  // of `joules`, what would have been drawn doing nothing; none: not known
  bool operator==(const EnergyPart&) const = default;
};

// The source is "rapl", "nvml", "pdu", "slurm" or "model (its parameters)"; of several parts "nvml + rapl".
struct Energy {
  Joules joules;
  std::string source;
  std::vector<EnergyPart> parts{};  // they add up to `joules`; none: there is no more to say

  bool complete() const;  // every part was measured
  bool operator==(const Energy&) const = default;
};

Energy sum_of(std::vector<EnergyPart>);
// Of two stretches, one after the other.
Energy sum_of(const Energy&, const Energy&);

// Adds to sums by device and source; what is not told apart is a part of its own. The idle share of a sum is
// known when that of all its stretches is.
void add_parts(std::vector<EnergyPart>& sums, const std::vector<EnergyPart>&);
void add_parts(std::vector<EnergyPart>& sums, const Energy&);

}  // namespace tandem
