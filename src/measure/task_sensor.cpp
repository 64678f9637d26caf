#include "measure/task_sensor.h"

#include <algorithm>
#include <utility>

namespace tandem::measure {
namespace {

// Looking for new processes costs a walk over /proc; short epochs share one.
constexpr Seconds kLookEvery{0.25};
// What a GPU does takes NVML four calls of some milliseconds each, while a program waits for its answer.
// Works are told apart by their first epoch; after it GPUs are looked at this often, while nobody waits.
constexpr Seconds kGpusEvery{1};

}  // namespace

TaskSensor::TaskSensor(SensorOptions options)
    : TaskSensor(options.around, choose_energy(options.energy, options.around)) {}

TaskSensor::TaskSensor(Surroundings around, EnergySources energy)
    : around_(std::move(around)),
      energy_(std::move(energy)),
      proc_(around_.proc),
      plan_(plan_counters(*around_.counters, platform::known_events(around_.sys))),
      groups_(proc_) {}

std::string TaskSensor::energy_source() const {
  return energy_.machine ? energy_.machine->source() : "";
}

std::shared_ptr<platform::Nvml> TaskSensor::nvml() const {
  return energy_.gpus ? energy_.gpus->nvml() : nullptr;
}

std::optional<Watts> TaskSensor::most_power(int gpus) const {
  if (energy_.machine_has_gpus && energy_.gpus) return energy_.gpus->most(gpus);  // nothing else is counted
  const auto machine = energy_.machine ? energy_.machine->most() : std::nullopt;
  if (!machine || gpus == 0) return machine;
  const auto more = energy_.gpus ? energy_.gpus->most(gpus) : std::nullopt;
  return more ? std::optional(*machine + *more) : std::nullopt;
}

void TaskSensor::attach(TaskId id, std::int64_t pid) {
  detach(id);
  // Ends the interval that began before this task.
  advance();
  const Seconds now = around_.clock();
  groups_.add(id, pid);
  attribution_.attach(id);
  idle_.attach(id);
  const auto [it, added] =
      tasks_.emplace(id, Task{CounterSet(*around_.counters, plan_, pid, now), {}, {}, {}, false, {}, 0});
  update(id, it->second, now);
}

void TaskSensor::uses_gpus(TaskId id, const std::vector<std::string>& gpus) {
  if (!tasks_.contains(id)) return;
  advance();  // ends the interval in which it had others
  if (gpus.empty())
    with_gpus_.erase(id);
  else
    with_gpus_.insert(id);
  if (energy_.gpus) energy_.gpus->uses(id, gpus);
  if (!gpus_ && !gpus.empty()) {
    std::string why;
    auto nvml = this->nvml();
    if (!nvml) nvml = platform::Nvml::open(why, around_.nvml);
    if (nvml) {
      gpus_ = std::make_unique<GpuProfile>(std::move(nvml), around_.clock);
      gpus_->step(around_.clock());
    }
  }
  if (gpus_) gpus_->uses(id, gpus);
  find_steps(id);
}

// While others run too, they would wait for it.
void TaskSensor::find_steps(TaskId id) {
  if (energy_.gpus && tasks_.size() == 1) energy_.gpus->find_steps(id, around_.pause);
}

void TaskSensor::detach(TaskId id) {
  tasks_.erase(id);
  groups_.remove(id);
  attribution_.detach(id);
  idle_.detach(id);
  with_gpus_.erase(id);
  if (energy_.gpus) energy_.gpus->leaves(id);
  if (gpus_) gpus_->uses(id, {});
}

void TaskSensor::sample() {
  if (!tasks_.empty()) advance();
}

control::Reading TaskSensor::read(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return {};
  advance(true);
  control::Reading reading;
  reading.profile.rates = take_rates(id, found->second);
  reading.energy = energy_of(id);
  Task& task = found->second;
  ++task.reads;
  if (!std::exchange(task.started_up, false)) return reading;
  const auto startup = std::exchange(task.startup, std::nullopt);
  if (startup && startup->complete()) reading.startup_energy = startup->joules;
  reading.energy =
      startup && reading.energy ? std::optional(sum_of(*startup, *reading.energy)) : std::nullopt;
  return reading;
}

// Its share of the machine, and its GPUs where they are counted apart. A part that nobody could tell has no
// source; without any there is no energy.
std::optional<Energy> TaskSensor::energy_of(TaskId id) {
  if (!energy_.machine) return std::nullopt;
  const auto joules = attribution_.take(id);
  auto idle = idle_.take(id);
  if (idle && joules) idle = std::min(*idle, *joules);  // their clocks were read one after the other
  const bool gpus_apart = with_gpus_.contains(id) && (!energy_.machine_has_gpus || energy_.gpus);
  EnergyPart machine{"CPU"};
  if (joules) machine = {"CPU", *joules, energy_.machine->source(), idle};
  if (!gpus_apart) {
    if (!joules) return std::nullopt;
    return idle ? sum_of({machine}) : Energy{*joules, energy_.machine->source()};
  }
  std::vector<EnergyPart> parts{EnergyPart{"GPU"}};
  if (energy_.gpus)
    if (auto gpus = energy_.gpus->take(id)) parts.front() = std::move(*gpus);
  if (!energy_.machine_has_gpus) parts.push_back(std::move(machine));
  auto sum = sum_of(std::move(parts));
  return sum.source.empty() ? std::nullopt : std::optional(std::move(sum));
}

void TaskSensor::restart_profile(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  advance();
  take_rates(id, found->second);
}

void TaskSensor::started_up(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  restart_profile(id);
  Task& task = found->second;
  auto used = energy_of(id);
  // It may say so more than once.
  if (std::exchange(task.started_up, true) && task.startup && used) used = sum_of(*task.startup, *used);
  task.startup = std::move(used);
  find_steps(id);
}

Metrics TaskSensor::take_rates(TaskId id, Task& task) {
  Metrics rates;
  for (auto& [name, channel] : task.pressure)
    if (const auto rate = channel.take()) rates[name] = *rate;
  task.processes.take(rates);
  if (gpus_) gpus_->take(id, rates);
  // Last, because perf's count of a thing is better than /proc's of the same name.
  task.counters.take(rates);
  return rates;
}

void TaskSensor::advance(bool program_waits) {
  const Seconds now = around_.clock();
  if (!last_look_ || now - *last_look_ >= kLookEvery) {
    groups_.refresh();
    last_look_ = now;
  }
  pressure_.clear();
  for (const std::string of : {"cpu", "memory", "io"})
    if (const auto total = proc_.pressure(of)) pressure_["pressure-" + of] = *total;
  std::map<TaskId, std::optional<Seconds>> cpu;
  for (auto& [id, task] : tasks_) cpu[id] = update(id, task, now);
  const auto busy = machine_busy();
  const auto idle = energy_.machine ? energy_.machine->idle() : std::nullopt;
  attribution_.step(machine_energy(), busy, cpu);
  idle_.step(idle && last_at_ ? std::optional(*idle * (now - *last_at_)) : std::nullopt, busy, cpu);
  if (energy_.gpus) energy_.gpus->step(now);
  const bool new_here =
      std::any_of(tasks_.begin(), tasks_.end(), [](const auto& t) { return t.second.reads == 0; });
  const bool due = !program_waits && (!last_gpus_ || now - *last_gpus_ >= kGpusEvery);
  if (gpus_ && (new_here || due)) gpus_->step(*(last_gpus_ = now));
  last_at_ = now;
}

// The CPU time the task used since the last update.
std::optional<Seconds> TaskSensor::update(TaskId id, Task& task, Seconds now) {
  task.counters.update(now);
  task.processes.update(now, proc_, groups_.members(id));
  for (const auto& [name, total] : pressure_) task.pressure[name].update(now, total.value);
  const auto counted = task.counters.cpu_time();
  if (!counted) return task.processes.cpu_added();
  const Seconds before = task.cpu_counted.value_or(*counted);
  task.cpu_counted = counted;
  return Seconds{std::max(0.0, (*counted - before).value)};
}

std::optional<Joules> TaskSensor::machine_energy() {
  if (!energy_.machine) return std::nullopt;
  const auto before = std::exchange(last_energy_, std::nullopt);
  // All GPUs by CPU time, for programs that take GPUs without being given any: not while others have theirs.
  if (energy_.machine_has_gpus && energy_.gpus && !with_gpus_.empty()) return std::nullopt;
  last_energy_ = energy_.machine->read();
  if (!before || !last_energy_ || before->breaks != last_energy_->breaks) return std::nullopt;
  return last_energy_->total - before->total;
}

std::optional<Seconds> TaskSensor::machine_busy() {
  const auto before = last_busy_;
  last_busy_ = proc_.busy();
  if (!before || !last_busy_) return std::nullopt;
  return Seconds{std::max(0.0, (*last_busy_ - *before).value)};
}

}  // namespace tandem::measure
