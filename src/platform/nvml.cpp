#include "platform/nvml.h"

#include <dlfcn.h>

#include <array>

#include "base/text.h"

namespace tandem::platform {

// The part of nvml.h used here; its ABI is stable.
struct Nvml::Calls {
  using Status = int;
  struct Utilization {
    unsigned gpu, memory;  // percent
  };
  struct Memory {
    unsigned long long total, free, used;  // bytes
  };
  static constexpr Status kSuccess = 0;

  void* library = nullptr;
  bool started = false;
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  const char* (*error_string)(Status) = nullptr;
  Status (*count)(unsigned*) = nullptr;
  Status (*handle)(unsigned, void**) = nullptr;
  Status (*name)(void*, char*, unsigned) = nullptr;
  Status (*energy)(void*, unsigned long long*) = nullptr;
  // May stay null: energy can be read without them.
  Status (*utilization)(void*, Utilization*) = nullptr;
  Status (*memory)(void*, Memory*) = nullptr;

  ~Calls() {
    if (started) shutdown();
    if (library) dlclose(library);
  }

  // The name of the first function the library lacks, or empty.
  std::string bind(const SymbolLookup& lookup) {
    const auto one = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(lookup(symbol));
      return function != nullptr;
    };
    if (!one(init, "nvmlInit_v2")) return "nvmlInit_v2";
    if (!one(shutdown, "nvmlShutdown")) return "nvmlShutdown";
    if (!one(error_string, "nvmlErrorString")) return "nvmlErrorString";
    if (!one(count, "nvmlDeviceGetCount_v2")) return "nvmlDeviceGetCount_v2";
    if (!one(handle, "nvmlDeviceGetHandleByIndex_v2")) return "nvmlDeviceGetHandleByIndex_v2";
    if (!one(name, "nvmlDeviceGetName")) return "nvmlDeviceGetName";
    if (!one(energy, "nvmlDeviceGetTotalEnergyConsumption")) return "nvmlDeviceGetTotalEnergyConsumption";
    one(utilization, "nvmlDeviceGetUtilizationRates");
    one(memory, "nvmlDeviceGetMemoryInfo");
    return "";
  }

  std::string explain(const char* call, Status status) const {
    const char* text = error_string(status);
    return std::string(call) + ": " + (text ? printable(text) : "error " + std::to_string(status));
  }
};

Nvml::Nvml(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(std::string& why, SymbolLookup lookup) {
  auto calls = std::make_unique<Calls>();
  if (!lookup) {
    calls->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!calls->library) {
      why = "no libnvidia-ml.so.1: no NVIDIA driver";
      return nullptr;
    }
    lookup = [library = calls->library](const char* symbol) { return dlsym(library, symbol); };
  }
  if (const auto missing = calls->bind(lookup); !missing.empty()) {
    why = "the NVIDIA library has no " + missing + ": the driver is too old";
    return nullptr;
  }
  if (const auto status = calls->init(); status != Calls::kSuccess) {
    why = calls->explain("nvmlInit", status);
    return nullptr;
  }
  calls->started = true;
  unsigned count = 0;
  if (const auto status = calls->count(&count); status != Calls::kSuccess) {
    why = calls->explain("nvmlDeviceGetCount", status);
    return nullptr;
  }
  if (count == 0) {
    why = "the NVIDIA driver sees no GPU";
    return nullptr;
  }

  std::unique_ptr<Nvml> nvml(new Nvml(std::move(calls)));
  for (unsigned index = 0; index < count; ++index) {
    void* handle = nullptr;
    if (const auto status = nvml->calls_->handle(index, &handle); status != Calls::kSuccess) {
      why =
          "GPU " + std::to_string(index) + ": " + nvml->calls_->explain("nvmlDeviceGetHandleByIndex", status);
      return nullptr;
    }
    std::array<char, 96> name{};
    if (nvml->calls_->name(handle, name.data(), name.size() - 1) != Calls::kSuccess) name[0] = '\0';
    nvml->handles_.push_back(handle);
    nvml->gpus_.push_back({name[0] ? printable(name.data()) : "GPU without a name", false});
    nvml->gpus_.back().reports_energy = nvml->energy(index).has_value();
  }
  return nvml;
}

std::optional<std::uint64_t> Nvml::energy(std::size_t gpu) {
  unsigned long long millijoules = 0;
  if (calls_->energy(handles_.at(gpu), &millijoules) != Calls::kSuccess) return std::nullopt;
  return millijoules;
}

std::optional<Nvml::Load> Nvml::load(std::size_t gpu) {
  if (!calls_->utilization || !calls_->memory) return std::nullopt;
  Calls::Utilization busy{};
  Calls::Memory room{};
  if (calls_->utilization(handles_.at(gpu), &busy) != Calls::kSuccess ||
      calls_->memory(handles_.at(gpu), &room) != Calls::kSuccess)
    return std::nullopt;
  if (busy.gpu > 100 || room.total == 0 || room.used > room.total) return std::nullopt;  // cannot be
  return Load{busy.gpu / 100.0, static_cast<std::int64_t>(room.total), static_cast<std::int64_t>(room.used)};
}

}  // namespace tandem::platform
