// What /proc tells of one task, as rates: CPU time, faults, switches, memory, reading and writing.
//
// Everything is summed over the task's processes. A process that ends hands its CPU time, faults and I/O to
// the parent that waits for it, so the sum goes on; one that nobody in the task waits for takes its counts
// along. Switches are not handed on and are followed thread by thread. What cannot be read is missing from
// the rates. One thread.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/value.h"
#include "measure/channel.h"
#include "platform/procfs.h"

namespace tandem::measure {

class ProcessChannels {
 public:
  void update(Seconds now, const platform::ProcFs&, const std::vector<std::int64_t>& pids);
  void take(Metrics& rates);
  // CPU time used in the stretch the last update ended; nullopt when no process was left to read.
  std::optional<Seconds> cpu_added() const { return cpu_added_; }

 private:
  void update_switches(Seconds now, const platform::ProcFs&, const std::vector<std::int64_t>& pids);
  void update_io(Seconds now, const platform::ProcFs&, const std::vector<std::int64_t>& living);

  std::map<std::string, GrowingChannel> growing_;
  std::map<std::string, LevelChannel> levels_;
  std::map<std::int64_t, platform::Switches> threads_;  // as last seen
  double voluntary_ = 0, involuntary_ = 0;
  std::optional<Seconds> cpu_added_;
};

}  // namespace tandem::measure
