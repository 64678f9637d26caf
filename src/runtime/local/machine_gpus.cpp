#include "runtime/local/machine_gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::local {
namespace {

std::optional<double> wanted(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

bool sets(const spec::SystemSpace& asked) {
  return !asked.gpu_power.empty() || !asked.gpu_clock.empty();
}

}  // namespace

std::unique_ptr<MachineGpus> MachineGpus::open(Options options) {
  std::string why;
  auto nvml = options.opened;
  if (!nvml) nvml = platform::Nvml::open(why, options.nvml);
  if (!nvml) return nullptr;
  return std::unique_ptr<MachineGpus>(new MachineGpus(std::move(nvml), options));
}

MachineGpus::MachineGpus(std::shared_ptr<platform::Nvml> nvml, const Options& options)
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

void MachineGpus::try_settings() {
  for (std::size_t i = 0; i < nvml_->gpus().size(); ++i) denied_.push_back(settings_.try_power_limit(i));
  tried_ = true;
}

// What nobody tried, or what was refused, is not there to be set.
void MachineGpus::put_into(LocalOptions& options) {
  options.gpus = gpus_of(*nvml_);
  for (std::size_t i = 0; i < options.gpus.size(); ++i)
    if (!tried_ || !denied_[i].empty()) options.gpus[i].most_power = {}, options.gpus[i].most_clock = 0;
  options.set_gpu = [this](std::size_t gpu, Watts watts, double hertz) {
    if (watts.value <= 0 && hertz <= 0) return settings_.restore(gpu);
    return settings_.apply(gpu, {wanted(watts.value), wanted(hertz)});
  };
  options.check_gpus = [this] { return settings_.check(); };
}

void MachineGpus::offer(LocalOptions& options, const spec::SystemSpace& asked) {
  check_range(asked);
  if (sets(asked)) try_settings();
  put_into(options);
  for (auto& note : check(asked)) notes_.push_back(std::move(note));
}

void MachineGpus::offer_to_all(LocalOptions& options) {
  try_settings();
  put_into(options);
}

std::vector<std::string> MachineGpus::check(const spec::SystemSpace& asked) const {
  check_range(asked);
  std::vector<std::string> out;
  for (std::size_t i = 0; sets(asked) && i < denied_.size(); ++i)
    if (!denied_[i].empty())
      out.push_back(
          fmt::format("GPU {} stays as it is (system.gpu_power and gpu_clock are null): {}", i, denied_[i]));
  const auto count = nvml_->gpus().size();
  if (asked.gpus == 0 && count > 0)
    out.push_back(fmt::format("the program sees none of the {} here: ask for some with system.gpus",
                              count == 1 ? "GPU" : fmt::format("{} GPUs", count)));
  return out;
}

std::vector<LocalGpu> gpus_of(const platform::Nvml& nvml) {
  std::vector<LocalGpu> out;
  for (const auto& gpu : nvml.gpus())
    out.push_back({gpu.uuid.empty() ? std::to_string(out.size()) : gpu.uuid, gpu.name, gpu.memory,
                   Watts{gpu.power ? gpu.power->most : 0}, gpu.clocks ? gpu.clocks->most : 0});
  return out;
}

spec::SystemSpace gpus_asked_by(const spec::Job& any) {
  if (const auto* tune = std::get_if<spec::TuneJob>(&any)) return tune->system;
  if (const auto* experiment = std::get_if<spec::Experiment>(&any)) return experiment->system;
  const spec::TrainJob& job = spec::base_of(any);
  spec::SystemSpace out{.gpus = job.system.gpus, .gpu_memory = job.system.gpu_memory};
  if (job.system.gpu_power.value > 0) out.gpu_power = {job.system.gpu_power.value};
  if (job.system.gpu_clock > 0) out.gpu_clock = {job.system.gpu_clock};
  return out;
}

}  // namespace tandem::local
