// Programs that take as long as their jobs say (place.takes), on machines of different speed factors. For a
// server in a simulated world: what is submitted there says how long it takes, since nothing is run.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "sim/world/programs.h"

namespace tandem::sim {

class DeclaredPrograms final : public Programs {
 public:
  static constexpr double kOtherwise = 60;  // s, of a job that does not say

  // How fast each machine type is; 1 where it is not listed.
  explicit DeclaredPrograms(std::map<std::string, double> speed_factor)
      : speed_factor_(std::move(speed_factor)) {}
  ProgramStart start(const ProgramRun&) override { return {}; }
  ProgramEpoch epoch(const ProgramRun&, std::int64_t number, bool first) override;

 private:
  std::map<std::string, double> speed_factor_;
};

}  // namespace tandem::sim
