#include "runtime/local/gpu_allocator.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::local {

void add_gpus(const std::vector<LocalGpu>& gpus, Resources& capacity) {
  if (gpus.empty()) return;
  const auto least = [&](auto member) {
    const auto smallest =
        std::min_element(gpus.begin(), gpus.end(),
                         [&](const LocalGpu& a, const LocalGpu& b) { return a.*member < b.*member; });
    return (*smallest).*member;
  };
  capacity.gpus = static_cast<int>(gpus.size());
  capacity.gpu_memory = least(&LocalGpu::memory);
  capacity.gpu_power = least(&LocalGpu::most_power);
  capacity.gpu_clock = least(&LocalGpu::most_clock);
}

std::string type_with(const std::string& type, const std::vector<LocalGpu>& gpus) {
  return gpus.empty() ? type : fmt::format("{}, {} x {}", type, gpus.size(), gpus.front().name);
}

GpuAllocator::GpuAllocator(std::vector<LocalGpu> gpus) : gpus_(std::move(gpus)), used_(gpus_.size()) {}

bool GpuAllocator::has_room(std::size_t gpu, const Resources& wanted) const {
  if (wanted.gpu_memory == 0) return unused(gpu);
  return gpus_[gpu].memory - used_[gpu].memory >= wanted.gpu_memory;
}

std::optional<GpuAllocator::Numbers> GpuAllocator::take(const Resources& wanted, const Numbers& among) {
  Numbers order = among;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return used_[a].memory > used_[b].memory; });
  std::erase_if(order, [&](std::size_t gpu) { return !has_room(gpu, wanted); });
  if (order.size() < static_cast<std::size_t>(wanted.gpus)) return std::nullopt;
  order.resize(static_cast<std::size_t>(wanted.gpus));
  std::sort(order.begin(), order.end());
  for (const std::size_t gpu : order) {
    ++used_[gpu].tasks;
    used_[gpu].memory += wanted.gpu_memory > 0 ? wanted.gpu_memory : gpus_[gpu].memory;
  }
  return order;
}

void GpuAllocator::give_back(const Numbers& gpus, const Resources& granted) {
  for (const std::size_t gpu : gpus) {
    --used_[gpu].tasks;
    used_[gpu].memory -= granted.gpu_memory > 0 ? granted.gpu_memory : gpus_[gpu].memory;
  }
}

int GpuAllocator::free(const Numbers& among) const {
  return static_cast<int>(
      std::count_if(among.begin(), among.end(), [&](std::size_t gpu) { return unused(gpu); }));
}

std::vector<std::string> GpuAllocator::names(const Numbers& gpus) const {
  std::vector<std::string> out;
  for (const std::size_t gpu : gpus) out.push_back(gpus_[gpu].uuid);
  return out;
}

}  // namespace tandem::local
