#include "platform/machine_load.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "platform/kernel_text.h"

namespace tandem::platform {
namespace {

// How many numbers a list such as "0-3,8,10-11" names.
std::optional<int> count_listed(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    const auto range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), range.size() + 1));
    const auto dash = range.find('-');
    const auto first = parse_number<int>(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<int>(range.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    count += *last - *first + 1;
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::optional<double> number_in(const std::string& file) {
  const auto text = read_kernel_text(file);
  if (!text) return std::nullopt;
  std::string_view rest(*text);
  return parse_number<double>(next_word(rest));
}

std::optional<Bytes> kibibytes(std::string_view text, std::string_view label) {
  const auto number = labelled_number(text, label);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<Bytes>(*number) * kKiB;
}

std::optional<CpuTimes> cpu_times(std::string_view rest) {
  std::array<double, 8> field{};  // user nice system idle iowait irq softirq steal; guests are part of user
  double total = 0;
  for (double& ticks : field) {
    const auto parsed = parse_number<double>(next_word(rest));
    if (!parsed) return std::nullopt;
    ticks = *parsed;
    total += ticks;
  }
  const double a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return CpuTimes{{total / a_second}, {(field[3] + field[4]) / a_second}};
}

}  // namespace

MachineLoad::MachineLoad(const std::filesystem::path& proc, const std::filesystem::path& sys)
    : proc_(proc.string()), sys_(sys.string()) {}

std::optional<CpuTimes> MachineLoad::cpu() const {
  const auto text = read_kernel_text(proc_ + "/stat");
  if (!text) return std::nullopt;
  std::string_view rest(*text);
  if (next_word(rest) != "cpu") return std::nullopt;
  return cpu_times(rest);
}

std::map<int, CpuTimes> MachineLoad::cpus() const {
  std::map<int, CpuTimes> out;
  const auto text = read_kernel_text(proc_ + "/stat");
  if (!text) return out;
  std::string_view rest(*text);
  while (auto line = next_line(rest)) {
    const auto word = next_word(*line);
    const auto number = word.starts_with("cpu") ? parse_number<int>(word.substr(3)) : std::nullopt;
    if (!number) continue;  // "cpu" is all of them
    if (const auto times = cpu_times(*line)) out[*number] = *times;
  }
  return out;
}

std::optional<int> MachineLoad::cores() const {
  const auto text = read_kernel_text(sys_ + "/devices/system/cpu/online");
  if (!text) return std::nullopt;
  std::string_view rest(*text);
  return count_listed(next_word(rest));
}

std::optional<double> MachineLoad::clock() const {
  const auto kilohertz = number_in(sys_ + "/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  if (kilohertz) return *kilohertz * 1e3;
  const auto text = read_kernel_text(proc_ + "/cpuinfo");
  const auto megahertz = text ? labelled_number(*text, "cpu MHz\t\t:") : std::nullopt;
  return megahertz ? std::optional(*megahertz * 1e6) : std::nullopt;
}

std::optional<MemoryRoom> MachineLoad::memory() const {
  const auto text = read_kernel_text(proc_ + "/meminfo");
  if (!text) return std::nullopt;
  const auto total = kibibytes(*text, "MemTotal:"), available = kibibytes(*text, "MemAvailable:");
  if (!total || !available || *total == 0 || *available > *total) return std::nullopt;
  return MemoryRoom{*total, *available};
}

std::optional<std::string> MachineLoad::default_interface() const {
  const auto text = read_kernel_text(proc_ + "/net/route");
  if (!text) return std::nullopt;
  std::optional<std::string> best;
  int lowest = 0;
  std::string_view rest(*text);
  while (auto line = next_line(rest)) {
    std::array<std::string_view, 8> word;  // interface destination gateway flags references use metric mask
    for (auto& one : word) one = next_word(*line);
    const auto metric = parse_number<int>(word[6]);
    if (word[1] != "00000000" || word[7] != "00000000" || !metric) continue;
    if (best && *metric >= lowest) continue;
    best = word[0];
    lowest = *metric;
  }
  return best;
}

std::optional<Uplink> MachineLoad::uplink() const {
  const auto name = default_interface();
  if (!name) return std::nullopt;
  // Not /proc/net/dev: that lists every interface, and a host of containers has hundreds.
  const std::string folder = sys_ + "/class/net/" + *name + "/";
  const auto received = number_in(folder + "statistics/rx_bytes");
  const auto sent = number_in(folder + "statistics/tx_bytes");
  if (!received || !sent) return std::nullopt;
  Uplink out{*name, std::nullopt, *received, *sent};
  // Mb/s; an interface that does not know answers -1, or an error.
  const auto megabits = number_in(folder + "speed");
  if (megabits && *megabits > 0) out.speed = *megabits * 1e6 / 8;
  return out;
}

}  // namespace tandem::platform
