// Measures tasks on this machine: one profile and one amount of energy an epoch.
//
// A task is the process it was attached to, and all the threads and children that come of it. Counters are
// perf's where the kernel gives them, else /proc's; the names in a profile say what was measured. Rates are
// means over the stretch between two reads, sampled at each `sample` (about once a second) and at the read
// itself, so that an epoch shorter than a second is measured too. Energy is the machine's, shared out by CPU
// time (attribution.h), and for tasks that are given GPUs that of their GPUs (gpu_energy.h) beside it;
// without a source, or where the meter failed, there is none rather than 0, and a total that lacks a part
// says so.
//
// Profiles of tasks that are given GPUs hold what these did, too (gpu_profile.h).
//
// CPU time comes from perf's task-clock, which outlives the task. Without perf it comes from /proc, which is
// gone once the task has been waited for: read a task before that, or its last stretch has no energy.
//
// One thread. A sample costs some tenths of a millisecond: one look at /proc and a few files a task.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "control/ports.h"
#include "measure/attribution.h"
#include "measure/counter_set.h"
#include "measure/energy_choice.h"
#include "measure/gpu_profile.h"
#include "measure/process_channels.h"
#include "measure/process_groups.h"
#include "measure/surroundings.h"
#include "spec/job.h"

namespace tandem::measure {

struct SensorOptions {
  spec::EnergySpec energy;
  Surroundings around;
};

class TaskSensor : public control::Sensor {
 public:
  // Throws UserError when the energy source that was asked for is not there.
  explicit TaskSensor(SensorOptions);
  TaskSensor(Surroundings, EnergySources);  // no meter of the machine: no energy

  void attach(TaskId, std::int64_t pid) override;
  void uses_gpus(TaskId, const std::vector<std::string>& gpus) override;
  void sample() override;
  // A task that is not attached has an empty reading.
  control::Reading read(TaskId) override;
  void restart_profile(TaskId) override;
  void started_up(TaskId) override;
  void detach(TaskId) override;

  std::string energy_source() const;  // empty: none
  std::shared_ptr<platform::Nvml> nvml() const;  // null: it was not needed, or is not there
  // What this machine draws at most with so many of its GPUs at work; nullopt: nothing tells.
  std::optional<Watts> most_power(int gpus) const;

 private:
  struct Task {
    CounterSet counters;
    ProcessChannels processes;
    std::map<std::string, GrowingChannel> pressure;
    std::optional<Seconds> cpu_counted;  // by perf, at the last advance
    bool started_up = false;             // since the last read
    std::optional<Energy> startup{};     // what that took
    std::int64_t reads = 0;
  };

  void advance(bool program_waits = false);
  Metrics take_rates(TaskId, Task&);
  std::optional<Seconds> update(TaskId, Task&, Seconds now);
  std::optional<Energy> energy_of(TaskId);
  void find_steps(TaskId);
  std::optional<Joules> machine_energy();
  std::optional<Seconds> machine_busy();

  Surroundings around_;
  EnergySources energy_;
  platform::ProcFs proc_;
  CounterPlan plan_;
  ProcessGroups groups_;
  Attribution attribution_, idle_;  // of the machine's energy, and of what of it is its idle draw
  std::set<TaskId> with_gpus_;
  std::unique_ptr<GpuProfile> gpus_;  // opened when the first task is given some; null too where NVML is not
  std::map<TaskId, Task> tasks_;
  std::optional<MeterReading> last_energy_;
  std::optional<Seconds> last_busy_, last_look_, last_gpus_, last_at_;
  std::map<std::string, Seconds> pressure_;  // of the machine, at the last advance
};

}  // namespace tandem::measure
