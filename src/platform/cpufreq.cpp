#include "platform/cpufreq.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "base/error.h"

namespace tandem::platform {
namespace {

std::string read_word(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

void write_word(const std::filesystem::path& file, const std::string& word) {
  std::ofstream out(file);
  out << word << std::flush;
  if (!out) throw_errno("writing " + file.string());
}

}  // namespace

std::filesystem::path CpuFrequency::file(int cpu, const char* name) const {
  return sys_ / fmt::format("cpu{}", cpu) / "cpufreq" / name;
}

bool CpuFrequency::usable(const std::vector<int>& cpus, std::string* why) const {
  std::string reason = "cpufreq, scaling_max_freq";
  bool good = true;
  for (int cpu : cpus) {
    if (read_word(file(cpu, "cpuinfo_max_freq")).empty()) {
      reason = fmt::format("no cpufreq for CPU {}: virtual machines have none", cpu);
      good = false;
    } else if (::access(file(cpu, "scaling_max_freq").c_str(), W_OK) != 0) {
      reason = file(cpu, "scaling_max_freq").string() + " cannot be written; that takes root";
      good = false;
    }
    if (!good) break;
  }
  if (why) *why = reason;
  return good;
}

void CpuFrequency::limit(const std::vector<int>& cpus, double share) {
  std::string why;
  if (!usable(cpus, &why)) throw SystemError(why);
  for (int cpu : cpus) {
    former_.try_emplace(cpu, read_word(file(cpu, "scaling_max_freq")));
    const double top = std::stod(read_word(file(cpu, "cpuinfo_max_freq")));
    write_word(file(cpu, "scaling_max_freq"), fmt::format("{}", std::llround(top * share)));
  }
}

void CpuFrequency::restore(const std::vector<int>& cpus) {
  for (int cpu : cpus)
    if (auto found = former_.find(cpu); found != former_.end()) {
      write_word(file(cpu, "scaling_max_freq"), found->second);
      former_.erase(found);
    }
}

}  // namespace tandem::platform
