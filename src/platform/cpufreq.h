// CPU clock limits through cpufreq, where the machine has it and this process may write it.
//
// A limit is a share of the CPU's top frequency, written to scaling_max_freq. The former value is kept and
// put back.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tandem::platform {

class CpuFrequency {
 public:
  explicit CpuFrequency(std::filesystem::path sys = "/sys/devices/system/cpu") : sys_(std::move(sys)) {}

  // Whether all these CPUs can be limited; `why` says how or why not, for `tandem doctor`.
  bool usable(const std::vector<int>& cpus, std::string* why = nullptr) const;
  // Throws SystemError, with nothing changed, when one of them cannot be.
  void limit(const std::vector<int>& cpus, double share);
  // Puts back what was there before the first limit.
  void restore(const std::vector<int>& cpus);

  // What `restore` would put back, by CPU: kept on disk by the caller so that a crash can be repaired.
  const std::map<int, std::string>& former() const { return former_; }
  void adopt(std::map<int, std::string> former) { former_ = std::move(former); }

 private:
  std::filesystem::path file(int cpu, const char* name) const;
  std::filesystem::path sys_;
  std::map<int, std::string> former_;
};

}  // namespace tandem::platform
