// RAPL energy counters of the CPU through the kernel's powercap files.
//
// Counted are the packages and memory that is not part of one (dram); cores and uncore lie inside a package,
// `psys` and the intel-rapl-mmio twins repeat it, so they are left out. Thread-safe: nothing is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::platform {

struct EnergyZone {
  std::string name;  // "package-0", "dram"
  std::filesystem::path counter;
  std::uint64_t range = 0;  // in microjoules; the counter starts again at 0 after this
};

struct EnergyZones {
  std::vector<EnergyZone> zones;  // empty when there are none that can be read
  std::string why;                // then the reason
};

EnergyZones find_energy_zones(const std::filesystem::path& sys_root);

std::optional<std::uint64_t> read_microjoules(const EnergyZone&);

// From one reading to the next with at most one wrap in between; nullopt where that cannot be (beyond the
// range).
std::optional<std::uint64_t> microjoules_between(std::uint64_t before, std::uint64_t after,
                                                 std::uint64_t range);

}  // namespace tandem::platform
