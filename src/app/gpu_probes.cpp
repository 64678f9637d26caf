#include "app/gpu_probes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/gpu_text.h"
#include "app/installation.h"
#include "base/units.h"
#include "platform/gpu_settings.h"

namespace tandem::app {
namespace {

using platform::GpuSettings;
using platform::Nvml;
using platform::Probe;

Probe power_probe(GpuSettings& settings, const Nvml::Gpu& gpu, std::size_t index) {
  Probe probe{"GPU power", fmt::format("GPU {}", index)};
  if (!gpu.power) {
    probe.why = "this card, or its driver, has no power limit that can be set";
    return probe;
  }
  const auto range =
      fmt::format("{:g} to {:g} W, by default {:g} W", gpu.power->least, gpu.power->most, gpu.power->usual);
  const auto why = settings.try_power_limit(index);  // the limit there is, once more: nothing changes
  probe.available = why.empty();
  probe.why = why.empty() ? range : range + "; " + why;
  return probe;
}

Probe clock_probe(const Nvml::Gpu& gpu, std::size_t index, bool may_set_power) {
  Probe probe{"GPU clock", fmt::format("GPU {}", index)};
  if (!gpu.clocks) {
    probe.why = "this card, or its driver, has no clock that can be locked";
    return probe;
  }
  // Trying would unlock a clock that somebody has locked.
  probe.available = may_set_power;
  probe.why = fmt::format("{} to {}; not tried, it needs the same permission as the power limit",
                          text_frequency(gpu.clocks->least), text_frequency(gpu.clocks->most));
  return probe;
}

Probe guardian_probe() {
  const auto program = guardian_program();
  const bool there = ::access(program.c_str(), X_OK) == 0;
  return {"GPU power", "guardian", there,
          there ? program.string() + ", which puts limits and clocks back when Tandem is killed"
                : "no " + program.string() + ": without it nothing is set; `make build` makes it"};
}

}  // namespace

std::vector<Probe> examine_gpus(nlohmann::json& gpus) {
  gpus = nlohmann::json::array();
  std::string why;
  const auto nvml = Nvml::open(why);
  if (!nvml) return {};  // the line before says why
  GpuSettings settings(*nvml, {.guardian = guardian_program()});
  std::vector<Probe> now, power, clock;
  for (const auto& repair : settings.repairs()) now.push_back({"GPUs", "repair", true, repair});
  for (std::size_t index = 0; index < nvml->gpus().size(); ++index) {
    const auto& gpu = nvml->gpus()[index];
    const auto state = nvml->state(index);
    gpus.push_back(gpu_json(gpu, state));
    now.push_back({"GPUs", fmt::format("GPU {}", index), true, gpu.name + ": " + gpu_text(gpu, state)});
    power.push_back(power_probe(settings, gpu, index));
    clock.push_back(clock_probe(gpu, index, power.back().available));
    gpus.back()["power_limit_can_be_set"] = power.back().available;
    gpus.back()["recorded"] = nvml->recorded();
  }
  power.push_back(guardian_probe());
  now.insert(now.end(), power.begin(), power.end());
  now.insert(now.end(), clock.begin(), clock.end());
  return now;
}

}  // namespace tandem::app
