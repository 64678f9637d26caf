#include "measure/energy_choice.h"

#include "base/error.h"
#include "base/text.h"
#include "measure/gpu_meter.h"
#include "measure/http_meter.h"
#include "platform/powercap.h"

namespace tandem::measure {
namespace {

// What there is, and where not, why. A meter is made only when it is chosen.
struct SensorsFound {
  platform::EnergyZones rapl;
  std::shared_ptr<platform::Nvml> nvml;  // only with GPUs that all tell their energy, or at least their power
  std::string why_no_nvml;
};

SensorsFound look_around(const Surroundings& around) {
  SensorsFound found;
  found.rapl = platform::find_energy_zones(around.sys);
  std::shared_ptr<platform::Nvml> nvml = platform::Nvml::open(found.why_no_nvml, around.nvml);
  if (!nvml) return found;
  for (std::size_t gpu = 0; gpu < nvml->gpus().size(); ++gpu) {
    // A sum over some of the GPUs would look like the machine's and be too small.
    if (!nvml->gpus()[gpu].reports_energy && !nvml->watts(gpu)) {
      found.why_no_nvml = "GPU '" + nvml->gpus()[gpu].name + "' tells neither its energy nor its power";
      return found;
    }
  }
  found.nvml = std::move(nvml);
  return found;
}

PowerModel power_model(const spec::EnergySpec& spec, const Surroundings& around) {
  PowerModel model = default_power_model(around.cores);
  if (spec.idle) model.idle = *spec.idle;
  if (spec.busy) model.busy = *spec.busy;
  if (model.busy < model.idle)
    throw UserError("energy: busy (" + text(model.busy) + ") is less than idle (" + text(model.idle) +
                    "); give both, for the whole machine");
  return model;
}

std::unique_ptr<Meter> model_meter(const spec::EnergySpec& spec, const Surroundings& around) {
  return std::make_unique<ModelMeter>(power_model(spec, around), around.cores, platform::ProcFs(around.proc),
                                      around.clock);
}

std::unique_ptr<Meter> http_meter(const spec::EnergySpec& spec, const Surroundings& around) {
  if (spec.url.empty())
    throw UserError("energy.source: pdu needs energy.url, the address of the power meter");
  HttpMeterOptions options;
  options.url = spec.url;
  options.clock = around.clock;
  try {
    return std::make_unique<HttpMeter>(options);
  } catch (const SystemError& error) {
    throw UserError("energy.url: " + std::string(error.what()) +
                    "; check the address, or choose another energy.source");
  }
}

EnergySources with_gpus(std::unique_ptr<Meter> cpu, const SensorsFound& found, const Surroundings& around) {
  return {std::move(cpu), found.nvml ? std::make_unique<GpuEnergy>(found.nvml, around.clock) : nullptr,
          false};
}

[[noreturn]] void not_here(const std::string& source, const std::string& why) {
  throw UserError("energy.source: " + source + " is not available on this machine (" + why +
                  "); use 'auto', or see 'tandem doctor'");
}

std::string use(bool in_use, const std::string& otherwise) {
  return in_use ? "in use" : otherwise;
}

}  // namespace

EnergySources choose_energy(const spec::EnergySpec& spec, const Surroundings& around) {
  const bool automatic = spec.source == "auto";
  if (spec.source == "none") return {};
  if (spec.source == "pdu" || (automatic && !spec.url.empty()))
    return {http_meter(spec, around), nullptr, true};
  const auto found = look_around(around);
  const bool has_rapl = !found.rapl.zones.empty();
  if (spec.source == "model" || (automatic && !has_rapl))
    return with_gpus(model_meter(spec, around), found, around);
  if (spec.source == "rapl" || automatic) {
    if (!has_rapl) not_here("rapl", found.rapl.why);
    return with_gpus(std::make_unique<RaplMeter>(found.rapl.zones, around.clock), found, around);
  }
  if (spec.source == "nvml") {
    if (!found.nvml) not_here("nvml", found.why_no_nvml);
    return {std::make_unique<NvmlMeter>(found.nvml, around.clock),
            std::make_unique<GpuEnergy>(found.nvml, around.clock), true};
  }
  const std::vector<std::string> known{"auto", "rapl", "nvml", "pdu", "model", "none"};
  throw UserError("energy.source: unknown source '" + printable(spec.source, 80) + "'" +
                  did_you_mean(spec.source, known) + "; it is one of " + join(known));
}

std::vector<platform::Probe> probe_energy(const spec::EnergySpec& spec, const Surroundings& around) {
  const bool automatic = spec.source == "auto";
  const auto named = [&](const char* source) { return spec.source == source; };
  const std::string other = automatic ? "not used: the power meter sees the whole machine"
                                      : "not used: " + spec.source + " was chosen";
  const auto found = look_around(around);
  const bool meter_wins = automatic && !spec.url.empty();
  const bool has_rapl = !found.rapl.zones.empty();
  std::vector<platform::Probe> probes;

  if (has_rapl) {
    std::vector<std::string> zones;
    for (const auto& zone : found.rapl.zones) zones.push_back(zone.name);
    probes.push_back({"energy", "rapl", true,
                      join(zones) + "; " + use(named("rapl") || (automatic && !meter_wins), other)});
  } else {
    probes.push_back({"energy", "rapl", false, found.rapl.why});
  }
  const bool gpus_too = !meter_wins && (automatic || named("rapl") || named("model"));
  if (found.nvml)
    probes.push_back({"energy", "nvml", true,
                      std::to_string(found.nvml->gpus().size()) + " GPU(s), " +
                          NvmlMeter(found.nvml, around.clock).source() + "; " +
                          (gpus_too ? "in use for tasks that are given GPUs" : use(named("nvml"), other))});
  else
    probes.push_back({"energy", "nvml", false, found.why_no_nvml});

  platform::Probe meter{"energy", "pdu", false, "no energy.url given: no power meter to ask"};
  if (!spec.url.empty()) {
    try {
      const Watts now = ask_power_meter(spec.url);
      meter.available = true;
      meter.why = "reads " + text(now) + "; " +
                  use(named("pdu") || meter_wins, "not used: " + spec.source + " was chosen");
    } catch (const std::runtime_error& error) {
      meter.why = error.what();
    }
  }
  probes.push_back(meter);

  const auto model =
      ModelMeter(power_model(spec, around), around.cores, platform::ProcFs(around.proc), around.clock);
  const bool models = named("model") || (automatic && !meter_wins && !has_rapl);
  const std::string instead = automatic && has_rapl && !meter_wins ? "not used: rapl measures" : other;
  probes.push_back({"energy", "model", true, model.source() + ", an estimate; " + use(models, instead)});
  return probes;
}

}  // namespace tandem::measure
