#include "sim/world/programs_declared.h"

#include <algorithm>

namespace tandem::sim {

ProgramEpoch DeclaredPrograms::epoch(const ProgramRun& run, std::int64_t, bool) {
  const auto found = speed_factor_.find(run.machine);
  const double speed_factor = (found == speed_factor_.end() ? 1 : found->second) * run.granted.speed;
  const double all = run.spec.place.seconds ? run.spec.place.seconds->value : kOtherwise;
  ProgramEpoch out;
  out.seconds = Seconds{all * (1 - run.drop) / speed_factor /
                        static_cast<double>(std::max<std::int64_t>(run.epochs, 1))};
  return out;
}

}  // namespace tandem::sim
