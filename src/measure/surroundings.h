// The machine as measuring sees it; tests put their own in its place.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "measure/meter.h"
#include "platform/nvml.h"
#include "platform/perf_events.h"

namespace tandem::measure {

struct Surroundings {
  int cores = 1;  // of the whole machine
  std::filesystem::path proc = "/proc", sys = "/sys";
  Clock clock = steady_now;
  std::function<void(Seconds)> pause = sleep_for;
  std::shared_ptr<platform::CounterSource> counters = std::make_shared<platform::LinuxCounters>();
  platform::SymbolLookup nvml;  // empty: the library of the system
};

}  // namespace tandem::measure
