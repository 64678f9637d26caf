// How busy this machine is and what it is made of, as the kernel counts: cores, memory, and its way to the
// network. Counters only grow; whoever wants a share of a while takes the difference of two looks.
//
// Assumes that the machine is ours: limits of a surrounding container are not looked at. Everything may be
// missing (a virtual interface does not say how fast it is): then there is no number rather than a wrong
// one. Thread-safe: nothing is kept but the roots, which tests replace by recorded files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"

namespace tandem::platform {

// Since boot, of one core or summed over all of them.
struct CpuTimes {
  Seconds total;
  Seconds idle;  // with what was spent waiting for storage; what a hypervisor took is not idle
};

struct MemoryRoom {
  Bytes total = 0;
  Bytes available = 0;  // without swapping, as the kernel estimates
};

// The interface of the default route.
struct Uplink {
  std::string name;
  std::optional<double> speed;    // bytes a second each way, if it says so
  double received = 0, sent = 0;  // bytes since it came up
};

class MachineLoad {
 public:
  explicit MachineLoad(const std::filesystem::path& proc = "/proc",
                       const std::filesystem::path& sys = "/sys");

  std::optional<CpuTimes> cpu() const;   // of all
  std::map<int, CpuTimes> cpus() const;  // of each that is online, by its number; empty: nobody tells
  std::optional<int> cores() const;      // online now
  std::optional<double> clock() const;   // Hz: the highest of core 0, or else the one it has right now
  std::optional<MemoryRoom> memory() const;
  std::optional<Uplink> uplink() const;  // of the cheapest default route (IPv4)

 private:
  std::optional<std::string> default_interface() const;

  std::string proc_, sys_;
};

}  // namespace tandem::platform
