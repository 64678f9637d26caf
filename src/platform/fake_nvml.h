// For unit tests: NVIDIA's library in this process, with any answer and any failure to order. What several
// processes share, with the energy of a real card, is the recording in tests/fake_nvml.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "platform/nvml.h"

namespace tandem::platform {

struct FakeNvml {
  std::vector<unsigned long long> millijoules{1000, 2000};
  std::vector<unsigned> percent{0, 0};                // in use, of each GPU
  std::vector<unsigned> memory_percent{0, 0};         // its memory being read or written
  std::vector<unsigned long long> used{0, 0};         // bytes of its memory
  unsigned long long memory_total = 16'000'000'000u;  // of each
  std::vector<unsigned> milliwatts{75'000, 75'000}, limit{700'000, 700'000}, locked{0, 0};  // MHz; 0: free
  unsigned least_limit = 200'000, most_limit = 700'000, usual_limit = 600'000;              // milliwatts
  std::vector<unsigned> clocks{1980, 1965, 345};                                            // MHz
  unsigned long long throttle = 0;
  bool recording = false;             // says that it is one
  std::map<std::string, int> status;  // what a failing function returns; 999 otherwise
  std::set<std::string> missing;      // functions the library does not have
  std::set<std::string> failing;      // functions that return an error
  int started = 0;                    // users now
  int opened = 0, looks = 0, energy_reads = 0;  // how often: init, utilisation, energy

  FakeNvml() { current() = this; }
  ~FakeNvml() { current() = nullptr; }

  static FakeNvml*& current() {
    static FakeNvml* fake = nullptr;
    return fake;
  }
  static int fail(const std::string& function) {
    if (!current()->failing.contains(function)) return 0;
    const auto status = current()->status.find(function);
    return status == current()->status.end() ? 999 : status->second;
  }

  static int init() { return ++current()->started, ++current()->opened, fail("nvmlInit_v2"); }
  static int shutdown() { return --current()->started, 0; }
  static const char* error_string(int) { return "Unknown Error"; }
  static int count(unsigned* n) {
    *n = static_cast<unsigned>(current()->millijoules.size());
    return fail("nvmlDeviceGetCount_v2");
  }
  static int handle(unsigned index, void** device) {
    *device = &current()->millijoules[index];
    return fail("nvmlDeviceGetHandleByIndex_v2");
  }
  static int name(void*, char* text, unsigned length) {
    std::strncpy(text, "Fake GPU", length);
    return fail("nvmlDeviceGetName");
  }
  static int energy(void* device, unsigned long long* value) {
    ++current()->energy_reads;
    *value = *static_cast<unsigned long long*>(device);
    return fail("nvmlDeviceGetTotalEnergyConsumption");
  }

  static std::size_t index(void* device) {
    return static_cast<std::size_t>(static_cast<unsigned long long*>(device) - current()->millijoules.data());
  }
  static int utilization(void* device, unsigned* gpu_and_memory) {
    ++current()->looks;
    gpu_and_memory[0] = current()->percent[index(device)];
    gpu_and_memory[1] = current()->memory_percent[index(device)];
    return fail("nvmlDeviceGetUtilizationRates");
  }
  static int memory(void* device, unsigned long long* total_free_used) {
    total_free_used[0] = current()->memory_total;
    total_free_used[2] = current()->used[index(device)];
    total_free_used[1] = total_free_used[0] - total_free_used[2];
    return fail("nvmlDeviceGetMemoryInfo");
  }

  static int write(char* text, unsigned length, const std::string& what) {
    std::strncpy(text, what.c_str(), length);
    return 0;
  }
  static int driver(char* text, unsigned length) {
    return write(text, length, "555.42"), fail("nvmlSystemGetDriverVersion");
  }
  static int uuid(void* device, char* text, unsigned length) {
    return write(text, length, "GPU-" + std::to_string(index(device))), fail("nvmlDeviceGetUUID");
  }
  static int power_usage(void* device, unsigned* value) {
    return *value = current()->milliwatts[index(device)], fail("nvmlDeviceGetPowerUsage");
  }
  static int get_limit(void* device, unsigned* value) {
    return *value = current()->limit[index(device)], fail("nvmlDeviceGetPowerManagementLimit");
  }
  static int get_usual_limit(void*, unsigned* value) {
    return *value = current()->usual_limit, fail("nvmlDeviceGetPowerManagementDefaultLimit");
  }
  static int limit_range(void*, unsigned* least, unsigned* most) {
    *least = current()->least_limit;
    *most = current()->most_limit;
    return fail("nvmlDeviceGetPowerManagementLimitConstraints");
  }
  static int set_limit(void* device, unsigned value) {
    const int status = fail("nvmlDeviceSetPowerManagementLimit");
    if (status == 0) current()->limit[index(device)] = value;
    return status;
  }
  static int clock(void*, int kind, unsigned* megahertz) {
    return *megahertz = kind == 1 ? 1500 : 1, fail("nvmlDeviceGetClockInfo");
  }
  static int memory_clocks(void*, unsigned* count, unsigned* megahertz) {
    megahertz[0] = 810, megahertz[1] = 3201;
    return *count = 2, fail("nvmlDeviceGetSupportedMemoryClocks");
  }
  static int graphics_clocks(void*, unsigned memory_clock, unsigned* count, unsigned* megahertz) {
    const std::vector<unsigned> slow{345};
    const auto& clocks = memory_clock == 3201 ? current()->clocks : slow;
    std::copy(clocks.begin(), clocks.end(), megahertz);
    return *count = static_cast<unsigned>(clocks.size()), fail("nvmlDeviceGetSupportedGraphicsClocks");
  }
  static int clock_range(void*, int, int, unsigned* least, unsigned* most) {
    return *least = 300, *most = 2000, fail("nvmlDeviceGetMinMaxClockOfPState");
  }
  static int lock_clocks(void* device, unsigned least, unsigned most) {
    const int status = fail("nvmlDeviceSetGpuLockedClocks");
    if (status == 0) current()->locked[index(device)] = least == most ? most : 1;
    return status;
  }
  static int reset_clocks(void* device) {
    const int status = fail("nvmlDeviceResetGpuLockedClocks");
    if (status == 0) current()->locked[index(device)] = 0;
    return status;
  }
  static int temperature(void*, int, unsigned* celsius) {
    return *celsius = 45, fail("nvmlDeviceGetTemperature");
  }
  static int throttle_reasons(void*, unsigned long long* bits) {
    return *bits = current()->throttle, fail("nvmlDeviceGetCurrentClocksEventReasons");
  }
  static const char* says_recording() { return "made up"; }

  template <class Function>
  static void* pointer(Function function) {
    return reinterpret_cast<void*>(function);
  }

  SymbolLookup lookup() const {
    static const std::map<std::string, void*> functions{
        {"nvmlInit_v2", pointer(&init)},
        {"nvmlShutdown", pointer(&shutdown)},
        {"nvmlErrorString", pointer(&error_string)},
        {"nvmlDeviceGetCount_v2", pointer(&count)},
        {"nvmlDeviceGetHandleByIndex_v2", pointer(&handle)},
        {"nvmlDeviceGetName", pointer(&name)},
        {"nvmlDeviceGetTotalEnergyConsumption", pointer(&energy)},
        {"nvmlDeviceGetUtilizationRates", pointer(&utilization)},
        {"nvmlDeviceGetMemoryInfo", pointer(&memory)},
        {"nvmlSystemGetDriverVersion", pointer(&driver)},
        {"nvmlDeviceGetUUID", pointer(&uuid)},
        {"nvmlDeviceGetPowerUsage", pointer(&power_usage)},
        {"nvmlDeviceGetPowerManagementLimit", pointer(&get_limit)},
        {"nvmlDeviceGetPowerManagementDefaultLimit", pointer(&get_usual_limit)},
        {"nvmlDeviceGetPowerManagementLimitConstraints", pointer(&limit_range)},
        {"nvmlDeviceSetPowerManagementLimit", pointer(&set_limit)},
        {"nvmlDeviceGetClockInfo", pointer(&clock)},
        {"nvmlDeviceGetSupportedMemoryClocks", pointer(&memory_clocks)},
        {"nvmlDeviceGetSupportedGraphicsClocks", pointer(&graphics_clocks)},
        {"nvmlDeviceGetMinMaxClockOfPState", pointer(&clock_range)},
        {"nvmlDeviceSetGpuLockedClocks", pointer(&lock_clocks)},
        {"nvmlDeviceResetGpuLockedClocks", pointer(&reset_clocks)},
        {"nvmlDeviceGetTemperature", pointer(&temperature)},
        {"nvmlDeviceGetCurrentClocksEventReasons", pointer(&throttle_reasons)}};
    return [](const char* symbol) -> void* {
      if (current()->missing.contains(symbol)) return nullptr;
      if (std::string(symbol) == "tandem_nvml_recording")
        return current()->recording ? pointer(&says_recording) : nullptr;
      const auto found = functions.find(symbol);
      return found == functions.end() ? nullptr : found->second;
    };
  }
};

}  // namespace tandem::platform
