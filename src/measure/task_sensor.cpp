#include "measure/task_sensor.h"

#include <algorithm>

#include "measure/energy_choice.h"

namespace tandem::measure {
namespace {

// Looking for new processes costs a walk over /proc; short epochs share one.
constexpr Seconds kLookEvery{0.25};

}  // namespace

TaskSensor::TaskSensor(SensorOptions options)
    : TaskSensor(options.around, choose_meter(options.energy, options.around)) {}

TaskSensor::TaskSensor(Surroundings around, std::unique_ptr<Meter> meter)
    : around_(std::move(around)),
      meter_(std::move(meter)),
      proc_(around_.proc),
      plan_(plan_counters(*around_.counters, platform::known_events(around_.sys))),
      groups_(proc_) {}

std::string TaskSensor::energy_source() const {
  return meter_ ? meter_->source() : "";
}

void TaskSensor::attach(TaskId id, std::int64_t pid) {
  detach(id);
  // Ends the interval that began before this task.
  advance();
  const Seconds now = around_.clock();
  groups_.add(id, pid);
  attribution_.attach(id);
  const auto [it, added] =
      tasks_.emplace(id, Task{CounterSet(*around_.counters, plan_, pid, now), {}, {}, {}});
  update(id, it->second, now);
}

void TaskSensor::detach(TaskId id) {
  tasks_.erase(id);
  groups_.remove(id);
  attribution_.detach(id);
}

void TaskSensor::sample() {
  if (!tasks_.empty()) advance();
}

control::Reading TaskSensor::read(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return {};
  advance();
  control::Reading reading;
  reading.profile.rates = take_rates(found->second);
  const auto joules = attribution_.take(id);
  if (meter_ && joules) reading.energy = Energy{*joules, meter_->source()};
  return reading;
}

void TaskSensor::restart_profile(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  advance();
  take_rates(found->second);
}

Metrics TaskSensor::take_rates(Task& task) {
  Metrics rates;
  for (auto& [name, channel] : task.pressure)
    if (const auto rate = channel.take()) rates[name] = *rate;
  task.processes.take(rates);
  // Last, because perf's count of a thing is better than /proc's of the same name.
  task.counters.take(rates);
  return rates;
}

void TaskSensor::advance() {
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
  attribution_.step(machine_energy(), busy, cpu);
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
  if (!meter_) return std::nullopt;
  const auto before = last_energy_;
  last_energy_ = meter_->read();
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
