// How fast jobs run: at the base speed, a share of what the CPUs can do, or sprinting, all of it.
//
//   cpufreq  the clock's limit is lowered for the base speed
//   quota    all jobs sit in one control group, which at the base speed gets a share of the CPUs' time, in
//            periods of 20 ms, so that jobs of tenths of a second feel it evenly
//   none     neither can be had here: jobs run as fast as they do, and nothing can sprint
//
// Whatever way the owner ends, clocks are put back, and the group is removed with all that is in it
// (guardian.h). One thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/cgroup.h"
#include "platform/cpufreq.h"
#include "runtime/bags/guardian.h"

namespace tandem::bags {

struct SpeedOptions {
  double base = 1.0 / 3;    // of full speed, in (0, 1)
  std::vector<int> cpus{};  // that jobs run on
  double weight = 1;        // of the jobs against others on the machine, where they share CPUs (quota only)
  platform::CgroupSupport cgroups = platform::CgroupSupport::detect();
  std::filesystem::path cpufreq = "/sys/devices/system/cpu";
};

class Speed {
 public:
  enum class Means { cpufreq, quota, none };

  // At the base speed. UserError for a base that is none; SystemError.
  explicit Speed(SpeedOptions);
  ~Speed();
  Speed(const Speed&) = delete;
  Speed& operator=(const Speed&) = delete;

  Means means() const { return means_; }
  const std::string& why() const { return why_; }  // one line: how, or why not
  bool can_sprint() const { return means_ != Means::none; }

  void take(pid_t);      // the process and all it starts run at this speed
  void sprint(bool on);  // nothing where it is so already, or cannot be

 private:
  SpeedOptions options_;
  Means means_ = Means::none;
  std::string why_;
  bool sprinting_ = false;
  platform::CpuFrequency clocks_;
  std::optional<platform::Cgroup> group_;
  std::unique_ptr<Guardian> guardian_;
};

}  // namespace tandem::bags
