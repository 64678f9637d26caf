// What the GPUs of a task did, for its profile: how busy they were, and with what.
//
//   gpu-busy          share of the time in which something ran on them
//   gpu-memory-busy   share of the time in which their memory was read or written
//   gpu-memory-bytes  of it, in use on each
//   gpu-power-share   what they drew, of what their limit allowed
//
// Means over its GPUs and over the stretch since the last take; a quantity that some GPU does not tell in
// some moment of it is left out. NVML tells shares of the last moments, so a reading stands for the time
// before it; power comes from the energy counter, which forgets nothing between two looks. They are the
// card's, whoever is on it: of tasks that share a GPU they say little (tune/fingerprint.h). One thread.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "event/ids.h"
#include "measure/gpu_meter.h"
#include "platform/nvml.h"

namespace tandem::measure {

class GpuProfile {
 public:
  GpuProfile(std::shared_ptr<platform::Nvml>, Clock);

  // By UUID or number; none, or one that NVML does not know: nothing is told of the task.
  void uses(TaskId, const std::vector<std::string>& gpus);
  void step(Seconds now);
  // Adds what is known since the last take, and begins a new stretch.
  void take(TaskId, Metrics& rates);

 private:
  enum Quantity { kBusy, kMemoryBusy, kMemoryBytes, kDrawn, kLimit, kQuantities };
  using Look = std::array<std::optional<double>, kQuantities>;  // kDrawn in joules, since the last look
  struct Task {
    std::vector<std::size_t> gpus;
    std::array<double, kQuantities> sums{};  // times seconds; kDrawn: joules
    std::array<bool, kQuantities> missed{};
    double seconds = 0;
  };
  Look look(std::size_t gpu);
  void add(Task&, const std::map<std::size_t, Look>&, double seconds);

  std::shared_ptr<platform::Nvml> nvml_;
  Clock clock_;
  struct Gpu {
    GpuMeter meter;
    std::optional<MeterReading> last{};
  };
  std::map<std::size_t, Gpu> gpus_;  // those of some task
  std::map<TaskId, Task> tasks_;
  std::optional<Seconds> last_;
};

}  // namespace tandem::measure
