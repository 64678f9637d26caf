#include "measure/gpu_meter.h"

#include <algorithm>

#include "base/text.h"

namespace tandem::measure {
namespace {

constexpr Seconds kLongestGap{5};

}  // namespace

GpuMeter::GpuMeter(std::shared_ptr<platform::Nvml> nvml, std::size_t gpu, Clock clock)
    : nvml_(std::move(nvml)),
      gpu_(gpu),
      clock_(std::move(clock)),
      counts_(nvml_->gpus().at(gpu).reports_energy),
      integral_(kLongestGap) {}

std::string GpuMeter::source() const {
  return nvml_->source() + (counts_ ? "" : " (power samples)");
}

std::optional<MeterReading> GpuMeter::read() {
  return counts_ ? read_counter() : read_power();
}

std::optional<MeterReading> GpuMeter::read_counter() {
  const auto count = nvml_->energy(gpu_);
  if (!count) return std::nullopt;  // the next reading covers this stretch as well
  if (last_) {
    if (const auto added = platform::millijoules_between(*last_, *count))
      reading_.total += Joules{static_cast<double>(*added) * 1e-3};
    else
      ++reading_.breaks;
  }
  last_ = count;
  return reading_;
}

std::optional<MeterReading> GpuMeter::read_power() {
  const Seconds now = clock_();
  if (const auto watts = nvml_->watts(gpu_)) integral_.add(now, Watts{*watts});
  return integral_.at(now);
}

NvmlMeter::NvmlMeter(const std::shared_ptr<platform::Nvml>& nvml, const Clock& clock) {
  for (std::size_t gpu = 0; gpu < nvml->gpus().size(); ++gpu) gpus_.emplace_back(nvml, gpu, clock);
}

std::string NvmlMeter::source() const {
  std::vector<std::string> sources;
  for (const auto& gpu : gpus_)
    if (std::find(sources.begin(), sources.end(), gpu.source()) == sources.end())
      sources.push_back(gpu.source());
  return join(sources, " + ");
}

std::optional<MeterReading> NvmlMeter::read() {
  MeterReading sum;
  bool all = true;
  for (auto& gpu : gpus_) {
    const auto reading = gpu.read();  // each of them, so that none misses a sample
    all &= reading.has_value();
    if (!reading) continue;
    sum.total += reading->total;
    sum.breaks += reading->breaks;
  }
  if (!all) return std::nullopt;
  return sum;
}

}  // namespace tandem::measure
