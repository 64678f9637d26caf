#include "runtime/local/machine_gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::local {
namespace {

std::optional<double> wanted(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::unique_ptr<MachineGpus> MachineGpus::open(Options options) {
  std::string why;
  auto nvml = platform::Nvml::open(why, options.nvml);
  if (!nvml) return nullptr;
  return std::unique_ptr<MachineGpus>(new MachineGpus(std::move(nvml), options));
}

MachineGpus::MachineGpus(std::unique_ptr<platform::Nvml> nvml, const Options& options)
    : nvml_(std::move(nvml)),
      settings_(*nvml_, {.guardian = options.guardian, .folder = options.folder, .log = options.log}),
      notes_(settings_.repairs()) {}

void MachineGpus::check_range(const spec::SystemSpace& asked) const {
  const auto& gpus = nvml_->gpus();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (const double watts : asked.gpu_power)
      if (const auto& power = gpus[i].power; power && (watts < power->least || watts > power->most))
        throw UserError(fmt::format("system.gpu_power: {} is outside what GPU {} ({}) takes: {} to {}",
                                    text(Watts{watts}), i, gpus[i].name, text(Watts{power->least}),
                                    text(Watts{power->most})));
    for (const double hertz : asked.gpu_clock)
      if (const auto& clocks = gpus[i].clocks; clocks && (hertz < clocks->least || hertz > clocks->most))
        throw UserError(fmt::format("system.gpu_clock: {} is outside what GPU {} ({}) takes: {} to {}",
                                    text_frequency(hertz), i, gpus[i].name, text_frequency(clocks->least),
                                    text_frequency(clocks->most)));
  }
}

void MachineGpus::offer(LocalOptions& options, const spec::SystemSpace& asked) {
  check_range(asked);
  const bool sets = !asked.gpu_power.empty() || !asked.gpu_clock.empty();
  auto gpus = gpus_of(*nvml_);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string why = sets ? settings_.try_power_limit(i) : "";
    if (sets && why.empty()) continue;
    gpus[i].most_power = {}, gpus[i].most_clock = 0;
    if (sets)
      notes_.push_back(
          fmt::format("GPU {} stays as it is (system.gpu_power and gpu_clock are null): {}", i, why));
  }
  options.gpus = gpus;
  options.set_gpu = [this](std::size_t gpu, Watts watts, double hertz) {
    if (watts.value <= 0 && hertz <= 0) return settings_.restore(gpu);
    return settings_.apply(gpu, {wanted(watts.value), wanted(hertz)});
  };
  options.check_gpus = [this] { return settings_.check(); };
  if (asked.gpus == 0 && !gpus.empty())
    notes_.push_back(fmt::format("the program sees none of the {} here: ask for some with system.gpus",
                                 gpus.size() == 1 ? "GPU" : fmt::format("{} GPUs", gpus.size())));
}

std::vector<LocalGpu> gpus_of(const platform::Nvml& nvml) {
  std::vector<LocalGpu> out;
  for (const auto& gpu : nvml.gpus())
    out.push_back({gpu.uuid.empty() ? std::to_string(out.size()) : gpu.uuid, gpu.name, gpu.memory,
                   Watts{gpu.power ? gpu.power->most : 0}, gpu.clocks ? gpu.clocks->most : 0});
  return out;
}

spec::SystemSpace gpus_asked_by(const spec::TrainJob& job, const std::optional<spec::TuneJob>& tune) {
  if (tune) return tune->system;
  spec::SystemSpace out{.gpus = job.system.gpus, .gpu_memory = job.system.gpu_memory};
  if (job.system.gpu_power.value > 0) out.gpu_power = {job.system.gpu_power.value};
  if (job.system.gpu_clock > 0) out.gpu_clock = {job.system.gpu_clock};
  return out;
}

}  // namespace tandem::local
