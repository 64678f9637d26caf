#include "platform/powercap.h"

#include <algorithm>
#include <fstream>

#include "base/text.h"

namespace tandem::platform {
namespace {

std::optional<std::string> first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<std::uint64_t> first_number(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (!(in >> value)) return std::nullopt;
  return value;
}

}  // namespace

EnergyZones find_energy_zones(const std::filesystem::path& sys_root) {
  const auto folder = sys_root / "class/powercap";
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) return {{}, "no " + folder.string() + ": a virtual machine, or a kernel without powercap"};

  EnergyZones found;
  std::vector<std::string> unreadable;
  for (const auto& entry : entries) {
    if (!entry.path().filename().string().starts_with("intel-rapl:")) continue;
    const auto name = first_line(entry.path() / "name").value_or("");
    if (!name.starts_with("package") && name != "dram") continue;
    EnergyZone zone{name, entry.path() / "energy_uj",
                    first_number(entry.path() / "max_energy_range_uj").value_or(0)};
    if (read_microjoules(zone))
      found.zones.push_back(std::move(zone));
    else
      unreadable.push_back(zone.counter.string());
  }
  std::sort(found.zones.begin(), found.zones.end(),
            [](const EnergyZone& a, const EnergyZone& b) { return a.counter < b.counter; });
  std::sort(unreadable.begin(), unreadable.end());
  // A sum over some of the zones would look like the machine's and be too small.
  if (!unreadable.empty())
    return {{}, "cannot read " + join(unreadable) + ": run as root, or make these files readable"};
  if (found.zones.empty()) found.why = "no RAPL package under " + folder.string();
  return found;
}

std::optional<std::uint64_t> read_microjoules(const EnergyZone& zone) {
  return first_number(zone.counter);
}

std::optional<std::uint64_t> microjoules_between(std::uint64_t before, std::uint64_t after,
                                                 std::uint64_t range) {
  if (after >= before) return after - before;
  if (before > range) return std::nullopt;
  return range - before + after;
}

}  // namespace tandem::platform
