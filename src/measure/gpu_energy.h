// Shares the energy of GPUs out among the tasks that were given them.
//
// A GPU's joules of an interval are split evenly among the tasks on it at that moment: what each of them made
// it draw cannot be told, and its idle draw is there for all of them. What a GPU draws while no task is on it
// stays with the machine. Of a GPU that nobody used (no task on it, and NVML saw nothing run) for a while,
// the least mean power seen is its idle draw; before that it is not known. Such a one is looked at now and then:
// a call takes NVML some milliseconds, and there may be eight of them and many tasks of the CPU alone. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "event/energy.h"
#include "event/ids.h"
#include "measure/gpu_meter.h"
#include "platform/nvml.h"

namespace tandem::measure {

class GpuEnergy {
 public:
  GpuEnergy(std::shared_ptr<platform::Nvml>, const Clock&);

  // By UUID or number; none: it has no GPU any more. One that is not there cannot be told.
  void uses(TaskId, const std::vector<std::string>& gpus);
  void leaves(TaskId);

  void step(Seconds now);
  // So that the next epochs of the task are told exactly, however short (counter_steps.h); takes a moment.
  void find_steps(TaskId, const std::function<void(Seconds)>& pause);

  // Since it has its GPUs or the last take; nothing for a task without GPUs. Without a source where a counter
  // failed or began anew in between.
  std::optional<EnergyPart> take(TaskId);
  std::string source() const;  // each way of measuring once
  const std::shared_ptr<platform::Nvml>& nvml() const { return nvml_; }
  // The greatest draw of so many of them; none where one does not tell its limits.
  std::optional<Watts> most(int gpus) const;

 private:
  struct Gpu {
    GpuMeter meter;
    std::optional<MeterReading> last{};  // at the last look
    std::optional<Seconds> looked{};
    std::optional<Watts> idle{};
  };
  struct Account {
    std::vector<std::size_t> gpus;
    bool all_here = true;  // NVML knows every one of them
    EnergyPart part{.idle = Joules{}};
    bool complete = true;
  };
  std::vector<Account*> tasks_on(std::size_t gpu);
  void look(std::size_t gpu, Seconds now);
  std::optional<Joules> drawn(std::size_t gpu);
  void share(std::size_t gpu, const std::vector<Account*>& among, std::optional<Joules>, Seconds interval);
  void learn_idle(std::size_t gpu, std::optional<Joules>, Seconds interval);

  std::shared_ptr<platform::Nvml> nvml_;
  Clock clock_;
  std::vector<Gpu> gpus_;
  std::map<TaskId, Account> accounts_;
};

}  // namespace tandem::measure
