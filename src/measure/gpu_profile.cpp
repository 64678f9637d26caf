#include "measure/gpu_profile.h"

#include <set>
#include <utility>

namespace tandem::measure {

GpuProfile::GpuProfile(std::shared_ptr<platform::Nvml> nvml, Clock clock)
    : nvml_(std::move(nvml)), clock_(std::move(clock)) {}

void GpuProfile::uses(TaskId task, const std::vector<std::string>& names) {
  tasks_.erase(task);
  Task fresh;
  for (const auto& name : names)
    if (const auto gpu = nvml_->named(name)) fresh.gpus.push_back(*gpu);
  if (!names.empty() && fresh.gpus.size() == names.size()) tasks_[task] = std::move(fresh);
  std::set<std::size_t> used;
  for (const auto& [id, one] : tasks_) used.insert(one.gpus.begin(), one.gpus.end());
  std::erase_if(gpus_, [&](const auto& gpu) { return !used.contains(gpu.first); });
  for (const std::size_t gpu : used) {
    const auto [at, added] = gpus_.try_emplace(gpu, Gpu{GpuMeter(nvml_, gpu, clock_)});
    if (added) at->second.last = at->second.meter.read();
  }
}

GpuProfile::Look GpuProfile::look(std::size_t number) {
  Look out;
  if (const auto load = nvml_->load(number)) {
    out[kBusy] = load->in_use;
    out[kMemoryBusy] = load->memory_busy;
    out[kMemoryBytes] = static_cast<double>(load->memory_used);
  }
  out[kLimit] = nvml_->power_limit(number);
  Gpu& gpu = gpus_.at(number);
  const auto before = std::exchange(gpu.last, gpu.meter.read());
  if (before && gpu.last && before->breaks == gpu.last->breaks)
    out[kDrawn] = (gpu.last->total - before->total).value;
  return out;
}

void GpuProfile::step(Seconds now) {
  const double seconds = last_ ? (now - *last_).value : 0;
  last_ = now;
  if (seconds <= 0) return;
  std::map<std::size_t, Look> looks;
  for (const auto& [number, gpu] : gpus_) looks[number] = look(number);
  for (auto& [id, task] : tasks_) add(task, looks, seconds);
}

void GpuProfile::add(Task& task, const std::map<std::size_t, Look>& looks, double seconds) {
  task.seconds += seconds;
  for (const std::size_t gpu : task.gpus)
    for (std::size_t of = 0; of < kQuantities; ++of)
      if (const auto& value = looks.at(gpu)[of])
        task.sums[of] += of == kDrawn ? *value : *value * seconds;
      else
        task.missed[of] = true;
}

void GpuProfile::take(TaskId id, Metrics& rates) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second.seconds <= 0) return;
  Task& task = found->second;
  const double all = task.seconds * static_cast<double>(task.gpus.size());
  const auto mean = [&](const char* name, Quantity of) {
    if (!task.missed[of]) rates[name] = task.sums[of] / all;
  };
  mean("gpu-busy", kBusy);
  mean("gpu-memory-busy", kMemoryBusy);
  mean("gpu-memory-bytes", kMemoryBytes);
  if (!task.missed[kDrawn] && !task.missed[kLimit] && task.sums[kLimit] > 0)
    rates["gpu-power-share"] = task.sums[kDrawn] / task.sums[kLimit];
  task = Task{std::move(task.gpus)};
}

}  // namespace tandem::measure
