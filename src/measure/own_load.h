// What our own tasks use of this machine, so that a look at it (node_monitor.h) can tell what others use: CPU
// time on each CPU, and memory.
//
// The CPU time of a task that runs is that of its processes (/proc, process_groups.h). When a task ends the
// kernel adds its time to that of the children that were waited for; so of those that end between two looks
// the sum is known, and nothing is lost but the time of grandchildren for whom nobody waited. A task's time
// is spread evenly over the CPUs it may use, and the sum of those that ended by how long each ran there. One
// thread.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "measure/process_groups.h"

namespace tandem::measure {

struct OwnUse {
  std::map<int, Seconds> cpu{};  // by CPU, since it was asked for last
  Bytes memory = 0;              // resident now
};

class OwnLoad {
 public:
  struct Sources {
    platform::ProcFs proc{};
    std::function<Seconds()> waited_for{};                     // empty: this process's children (getrusage)
    std::function<std::vector<int>(std::int64_t pid)> cpus{};  // empty: sched_getaffinity
  };
  OwnLoad() : OwnLoad(Sources{}) {}
  explicit OwnLoad(Sources);

  void started(TaskId, std::int64_t pid, Seconds now);
  void ended(TaskId, Seconds now);  // its end was waited for
  OwnUse take(Seconds now);

 private:
  struct Task {
    std::int64_t pid = 0;
    std::vector<int> cpus{};
    Seconds counted{};  // of its time, by earlier looks
    Seconds since{};    // it started, or the last look
  };
  void take_ended(OwnUse&);
  static void spread(OwnUse&, const std::vector<int>& cpus, Seconds time);

  Sources from_;
  ProcessGroups groups_;
  std::map<TaskId, Task> tasks_;
  std::vector<Task> ended_;  // since the last look; `since`: how long it ran
  Seconds waited_for_;       // as far as it was counted
};

}  // namespace tandem::measure
