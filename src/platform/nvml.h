// NVIDIA's management library, loaded when it is there: the GPUs, the energy they have used and how busy they
// are.
//
// Nothing of NVIDIA's is needed to build. One object at a time a process is enough; not thread-safe. Every
// call may fail at any time (a GPU falls off the bus); then there is no number rather than a wrong one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tandem::platform {

// Finds a function of the library by name, or null. Tests give their own.
using SymbolLookup = std::function<void*(const char*)>;

class Nvml {
 public:
  struct Gpu {
    std::string name;
    bool reports_energy = false;
  };

  struct Load {
    double in_use = 0;  // 0 to 1: share of the last moments (up to a second) in which something ran on it
    std::int64_t memory = 0, memory_used = 0;  // bytes
  };

  // Null when there is no library, no driver or no GPU; `why` then says which. An empty lookup loads
  // libnvidia-ml.so.1.
  static std::unique_ptr<Nvml> open(std::string& why, SymbolLookup lookup = {});
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::vector<Gpu>& gpus() const { return gpus_; }
  // Millijoules since the driver was loaded.
  std::optional<std::uint64_t> energy(std::size_t gpu);
  // nullopt as well where the library cannot say it.
  std::optional<Load> load(std::size_t gpu);

 private:
  struct Calls;
  explicit Nvml(std::unique_ptr<Calls>);
  std::unique_ptr<Calls> calls_;
  std::vector<Gpu> gpus_;
  std::vector<void*> handles_;
};

}  // namespace tandem::platform
