// How many cores the threads of this machine want: the time they ran and the time they stood in line for a
// CPU, as the scheduler counts it for each thread (/proc/PID/task/TID/schedstat, in nanoseconds).
//
// Counting threads that are runnable at some instants is much coarser, and counts those who look. Threads
// that end between two looks are missed; ones that begin there count from their beginning. Thread-safe:
// nothing is kept but the root, which tests replace by recorded files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>

#include "base/units.h"

namespace tandem::platform {

struct ThreadTime {
  int process = 0;
  Seconds ran, stood;  // since it began: on a CPU, and in line for one
};
using ThreadTimes = std::map<int, ThreadTime>;  // by thread id

// Of all processes that may be looked at; nullopt where this kernel does not count.
std::optional<ThreadTimes> thread_times(const std::filesystem::path& proc = "/proc");

struct CoresWanted {
  double used = 0, in_line = 0;
  double all() const { return used + in_line; }
};

// Between two looks `window` apart, by everybody but one process.
CoresWanted cores_wanted(const ThreadTimes& before, const ThreadTimes& after, Seconds window, int but_for);

}  // namespace tandem::platform
