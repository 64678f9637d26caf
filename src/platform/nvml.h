// NVIDIA's management library, loaded when it is there: the GPUs, what they do and use, and what may be set.
//
// Nothing of NVIDIA's is needed to build. One object at a time a process is enough; not thread-safe. Every
// call may fail at any time (a GPU falls off the bus); then there is no number rather than a wrong one.
//
// A recording can stand in for the library (TANDEM_NVML=/path/to/libfake_nvml.so, for tests and for trying
// things out without a GPU): it says so itself, `recorded` is true then, and every GPU's name says it too.
//
// What is set here stays set when this process ends. Use GpuSettings (gpu_settings.h), which puts it back.
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
  struct Power {
    double least = 0, most = 0, usual = 0;  // watts of a limit; `usual` is the card's own default
  };
  struct Clocks {
    double least = 0, most = 0;  // hertz
  };

  struct Gpu {
    std::string name;
    bool reports_energy = false;
    std::string uuid;              // "GPU-..."; empty: it does not say
    std::int64_t memory = 0;       // bytes; 0: it does not say
    std::optional<Power> power;    // nullopt: it has no limit that can be set
    std::optional<Clocks> clocks;  // of its graphics clock; nullopt: it cannot be locked
  };

  struct Load {
    double in_use = 0;  // 0 to 1: share of the last moments (up to a second) in which something ran on it
    std::int64_t memory = 0, memory_used = 0;  // bytes
    double memory_busy = 0;  // 0 to 1: share of the last moments in which its memory was read or written
  };

  // At this moment; what the GPU does not say is missing.
  struct State {
    std::optional<double> in_use;             // as of Load
    std::optional<std::int64_t> memory_used;  // bytes
    std::optional<double> watts;              // on recent cards the mean of the last second
    std::optional<double> power_limit;        // watts
    std::optional<double> celsius;
    std::optional<double> hertz;                        // of its multiprocessors
    std::optional<std::vector<std::string>> throttled;  // "power cap", "heat (hardware)"; empty: it is not
  };

  // Null when there is no library, no driver or no GPU; `why` then says which. An empty lookup loads
  // libnvidia-ml.so.1, or what TANDEM_NVML names.
  static std::unique_ptr<Nvml> open(std::string& why, SymbolLookup lookup = {});
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::vector<Gpu>& gpus() const { return gpus_; }
  const std::string& driver() const { return driver_; }  // its version; empty: it does not say
  bool recorded() const { return recorded_; }            // not a real GPU
  // What goes wherever a number goes: "nvml", or "nvml recording".
  std::string source() const { return recorded_ ? "nvml recording" : "nvml"; }
  std::optional<std::size_t> find(const std::string& uuid) const;
  std::optional<std::size_t> named(const std::string& uuid_or_number) const;  // "0": the first

  // Millijoules since the driver was loaded.
  std::optional<std::uint64_t> energy(std::size_t gpu);
  std::optional<double> watts(std::size_t gpu);
  // nullopt as well where the library cannot say it.
  std::optional<Load> load(std::size_t gpu);
  State state(std::size_t gpu);

  std::optional<double> power_limit(std::size_t gpu);  // watts
  // These change the card for everybody. Return "" or a sentence for people that says why not; then nothing
  // was changed.
  std::string set_power_limit(std::size_t gpu, double watts);
  std::string lock_clock(std::size_t gpu, double hertz);  // NVML cannot say whether it was locked before
  std::string unlock_clock(std::size_t gpu);

 private:
  struct Calls;
  explicit Nvml(std::unique_ptr<Calls>);
  std::string add(unsigned index);  // "" or why not
  std::optional<Power> read_power(void* handle) const;
  std::optional<Clocks> read_clocks(void* handle) const;
  std::optional<Clocks> listed_clocks(void* handle) const;
  std::string refusal(std::size_t gpu, const std::string& doing, int status) const;

  std::unique_ptr<Calls> calls_;
  std::vector<Gpu> gpus_;
  std::vector<void*> handles_;
  std::string driver_;
  bool recorded_ = false;
};

// From one reading of a GPU's counter to a later one. nullopt where it went back (the driver was loaded anew
// and counts from 0 again, or the counter wrapped): what was used in between is not known.
std::optional<std::uint64_t> millijoules_between(std::uint64_t before, std::uint64_t after);

}  // namespace tandem::platform
