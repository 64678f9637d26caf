// For tests: NVIDIA's library as it would answer, with failures to order.
#pragma once

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "platform/nvml.h"

namespace tandem::platform {

struct FakeNvml {
  std::vector<unsigned long long> millijoules{1000, 2000};
  std::vector<unsigned> percent{0, 0};                // in use, of each GPU
  std::vector<unsigned long long> used{0, 0};         // bytes of its memory
  unsigned long long memory_total = 16'000'000'000u;  // of each
  std::set<std::string> missing;                      // functions the library does not have
  std::set<std::string> failing;                      // functions that return an error
  int started = 0;

  FakeNvml() { current() = this; }
  ~FakeNvml() { current() = nullptr; }

  static FakeNvml*& current() {
    static FakeNvml* fake = nullptr;
    return fake;
  }
  static int fail(const char* function) { return current()->failing.contains(function) ? 999 : 0; }

  static int init() { return ++current()->started, fail("nvmlInit_v2"); }
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
    *value = *static_cast<unsigned long long*>(device);
    return fail("nvmlDeviceGetTotalEnergyConsumption");
  }

  static std::size_t index(void* device) {
    return static_cast<std::size_t>(static_cast<unsigned long long*>(device) - current()->millijoules.data());
  }
  static int utilization(void* device, unsigned* gpu_and_memory) {
    gpu_and_memory[0] = current()->percent[index(device)];
    gpu_and_memory[1] = 0;
    return fail("nvmlDeviceGetUtilizationRates");
  }
  static int memory(void* device, unsigned long long* total_free_used) {
    total_free_used[0] = current()->memory_total;
    total_free_used[2] = current()->used[index(device)];
    total_free_used[1] = total_free_used[0] - total_free_used[2];
    return fail("nvmlDeviceGetMemoryInfo");
  }

  SymbolLookup lookup() const {
    return [](const char* symbol) -> void* {
      const std::string wanted(symbol);
      if (current()->missing.contains(wanted)) return nullptr;
      if (wanted == "nvmlInit_v2") return reinterpret_cast<void*>(&init);
      if (wanted == "nvmlShutdown") return reinterpret_cast<void*>(&shutdown);
      if (wanted == "nvmlErrorString") return reinterpret_cast<void*>(&error_string);
      if (wanted == "nvmlDeviceGetCount_v2") return reinterpret_cast<void*>(&count);
      if (wanted == "nvmlDeviceGetHandleByIndex_v2") return reinterpret_cast<void*>(&handle);
      if (wanted == "nvmlDeviceGetName") return reinterpret_cast<void*>(&name);
      if (wanted == "nvmlDeviceGetTotalEnergyConsumption") return reinterpret_cast<void*>(&energy);
      if (wanted == "nvmlDeviceGetUtilizationRates") return reinterpret_cast<void*>(&utilization);
      if (wanted == "nvmlDeviceGetMemoryInfo") return reinterpret_cast<void*>(&memory);
      return nullptr;
    };
  }
};

}  // namespace tandem::platform
