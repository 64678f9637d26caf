// Control groups: limits on memory, CPU time and processes for a task and everything it starts, and a way to end all of
// it.
//
// Works with cgroup v1 (one tree a controller) and v2 (one tree), as far as this process may write there.
// `detect` probes by making and removing a group, because permissions say too little. Groups are made below
// this process's own group, named "tandem-<name>". All in a group is ended at once by cgroup.kill: of the one
// tree of v2, which a machine with v1 may have beside the others. Where the kernel has none, it is frozen first.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tandem::platform {

struct CgroupSupport {
  int version = 0;                                  // 0: none usable
  std::filesystem::path memory_parent, cpu_parent, pids_parent;  // empty: that controller cannot be used
  std::filesystem::path kill_parent;                // groups here can be ended whole; empty: none
  std::string why_memory, why_cpu, why_pids, why_kill;  // one line for `tandem doctor`

  bool memory() const { return !memory_parent.empty(); }
  bool cpu() const { return !cpu_parent.empty(); }
  bool pids() const { return !pids_parent.empty(); }
  bool any() const { return memory() || cpu() || pids() || !kill_parent.empty(); }
  // The folders of a group of this name, there or not.
  std::vector<std::filesystem::path> folders_of(const std::string& name) const;

  // `proc` and `sys` are /proc and /sys/fs/cgroup; tests give other ones.
  static CgroupSupport detect(const std::filesystem::path& proc = "/proc",
                              const std::filesystem::path& sys = "/sys/fs/cgroup");
};

class Cgroup {
 public:
  // Makes the group, or takes over one that is left from before. Throws SystemError.
  Cgroup(const CgroupSupport&, const std::string& name);
  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) = delete;
  // Ends what is left in it, and removes it.
  ~Cgroup();

  // What a crash has left of a group with these folders; nullopt: nothing. A folder that is no group of ours is
  // passed over.
  static std::optional<Cgroup> left_at(const std::vector<std::filesystem::path>& folders);

  void add(pid_t);
  void set_memory(Bytes limit);  // 0: none. Throws SystemError when more is in use than that
  // CPU seconds a second; 0: no limit. They are handed out once a period: what is used up early waits for
  // the next.
  void set_cpu(double cores, Seconds period = Seconds{0.1});
  // Where CPUs are contended: so many times the share of a group that has none set; from 0.01 to 100.
  void set_cpu_weight(double times);
  void set_processes(int limit);  // and threads; where nobody counts them, nothing
  std::vector<pid_t> processes() const;
  // Until nobody is left, or some seconds passed. Where processes are counted it allows no more of them: for
  // one that forks faster than it can be killed.
  void kill_all();
  std::int64_t oom_kills() const;

 private:
  Cgroup() = default;
  void freeze(bool);
  int version_ = 0;
  std::filesystem::path memory_, cpu_, pids_, kill_;  // in v2 the same folder
  std::vector<std::filesystem::path> folders_;  // each once
};

}  // namespace tandem::platform
