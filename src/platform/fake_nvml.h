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
  std::set<std::string> missing;  // functions the library does not have
  std::set<std::string> failing;  // functions that return an error
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
      return nullptr;
    };
  }
};

}  // namespace tandem::platform
