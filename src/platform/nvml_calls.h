// For nvml.cpp alone: the part of NVIDIA's nvml.h used here. Its ABI is stable; all functions are found by
// name.
#pragma once

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "base/text.h"
#include "platform/nvml.h"

namespace tandem::platform {

struct Nvml::Calls {
  using Status = int;
  using Device = void*;
  using Number = Status (*)(Device, unsigned*);
  struct Utilization {
    unsigned gpu, memory;  // percent
  };
  struct Memory {
    unsigned long long total, free, used;  // bytes
  };
  static constexpr Status kSuccess = 0, kNotSupported = 3, kNotPermitted = 4, kLost = 15;
  static constexpr int kGraphicsClock = 0, kMultiprocessorClock = 1, kGpuSensor = 0, kFastestState = 0;

  void* library = nullptr;
  bool started = false;
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  const char* (*error_string)(Status) = nullptr;
  Status (*count)(unsigned*) = nullptr;
  Status (*handle)(unsigned, Device*) = nullptr;
  Status (*name)(Device, char*, unsigned) = nullptr;
  // Those below may stay null: an older driver, or a recording of less.
  Status (*energy)(Device, unsigned long long*) = nullptr;
  const char* (*recording)() = nullptr;  // no function of NVIDIA's: only a recording has it
  Status (*driver)(char*, unsigned) = nullptr;
  Status (*uuid)(Device, char*, unsigned) = nullptr;
  Status (*utilization)(Device, Utilization*) = nullptr;
  Status (*memory)(Device, Memory*) = nullptr;
  Number power_usage = nullptr, power_limit = nullptr, usual_limit = nullptr;  // milliwatts
  Status (*limit_range)(Device, unsigned* least, unsigned* most) = nullptr;    // milliwatts
  Status (*set_limit)(Device, unsigned milliwatts) = nullptr;
  Status (*clock)(Device, int kind, unsigned* megahertz) = nullptr;
  Status (*memory_clocks)(Device, unsigned* count, unsigned* megahertz) = nullptr;
  Status (*graphics_clocks)(Device, unsigned memory_megahertz, unsigned* count, unsigned*) = nullptr;
  Status (*clock_range)(Device, int kind, int state, unsigned* least, unsigned* most) = nullptr;
  Status (*lock_clocks)(Device, unsigned least, unsigned most) = nullptr;  // megahertz
  Status (*reset_clocks)(Device) = nullptr;
  Status (*temperature)(Device, int sensor, unsigned* celsius) = nullptr;
  Status (*throttle_reasons)(Device, unsigned long long* bits) = nullptr;

  ~Calls() {
    if (started) shutdown();
    if (library) dlclose(library);
  }

  // The name of the first function that is needed and that the library lacks, or empty.
  std::string bind(const SymbolLookup& lookup) {
    const auto one = [&](auto& function, const char* symbol) {
      if (!function) function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(lookup(symbol));
      return function != nullptr;
    };
    if (!one(init, "nvmlInit_v2")) return "nvmlInit_v2";
    if (!one(shutdown, "nvmlShutdown")) return "nvmlShutdown";
    if (!one(error_string, "nvmlErrorString")) return "nvmlErrorString";
    if (!one(count, "nvmlDeviceGetCount_v2")) return "nvmlDeviceGetCount_v2";
    if (!one(handle, "nvmlDeviceGetHandleByIndex_v2")) return "nvmlDeviceGetHandleByIndex_v2";
    if (!one(name, "nvmlDeviceGetName")) return "nvmlDeviceGetName";
    one(energy, "nvmlDeviceGetTotalEnergyConsumption");
    one(recording, "tandem_nvml_recording");
    one(driver, "nvmlSystemGetDriverVersion");
    one(uuid, "nvmlDeviceGetUUID");
    one(utilization, "nvmlDeviceGetUtilizationRates");
    one(memory, "nvmlDeviceGetMemoryInfo");
    one(power_usage, "nvmlDeviceGetPowerUsage");
    one(power_limit, "nvmlDeviceGetPowerManagementLimit");
    one(usual_limit, "nvmlDeviceGetPowerManagementDefaultLimit");
    one(limit_range, "nvmlDeviceGetPowerManagementLimitConstraints");
    one(set_limit, "nvmlDeviceSetPowerManagementLimit");
    one(clock, "nvmlDeviceGetClockInfo");
    one(memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
    one(graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
    one(clock_range, "nvmlDeviceGetMinMaxClockOfPState");
    one(lock_clocks, "nvmlDeviceSetGpuLockedClocks");
    one(reset_clocks, "nvmlDeviceResetGpuLockedClocks");
    one(temperature, "nvmlDeviceGetTemperature");
    one(throttle_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    one(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");  // its name in older drivers
    return "";
  }

  std::string words(Status status) const {
    const char* text = error_string(status);
    return text ? printable(text) : "error " + std::to_string(status);
  }
  std::string explain(const char* call, Status status) const {
    return std::string(call) + ": " + words(status);
  }

  // A number the library gives by a pointer, where it has the function and the call succeeds.
  template <class Value, class Function, class... More>
  static std::optional<Value> get(Function function, Device device, More... more) {
    Value value{};
    if (!function || function(device, more..., &value) != kSuccess) return std::nullopt;
    return value;
  }
};

}  // namespace tandem::platform
