// What /proc says of the machine and of processes: a thin reader, no state but the root folder (tests use a
// fake).
//
// Everything may vanish between two looks, so every answer is optional: nullopt means gone, or not ours to
// see. Thread-safe: nothing is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tandem::platform {

// Of /proc/PID/stat. A process's `own` times cover all its threads, ended ones too; `children` covers the
// children it has waited for, and theirs. So the sum over a live family is conserved when a member ends and
// is waited for.
struct ProcessStat {
  std::int64_t parent = 0, group = 0, session = 0;
  char state = '?';  // Z: ended, not yet waited for
  Seconds user, system, children_user, children_system;
  double minor_faults = 0, major_faults = 0;  // with those of waited-for children
  std::int64_t threads = 0,
               started = 0;  // started: clock ticks since boot; with the pid it names a process for good
  Bytes resident = 0;
};

// Of /proc/PID/io, with waited-for children. "chars" go through system calls, "bytes" reach the storage.
struct ProcessIo {
  double read_chars = 0, written_chars = 0, read_calls = 0, write_calls = 0, read_bytes = 0,
         written_bytes = 0;
};

// Of one thread.
struct Switches {
  std::int64_t thread = 0;
  double voluntary = 0, involuntary = 0;
};

class ProcFs {
 public:
  explicit ProcFs(std::filesystem::path root = "/proc");

  std::vector<std::int64_t> pids() const;  // rising
  std::optional<ProcessStat> stat(std::int64_t pid) const;
  std::optional<ProcessIo> io(std::int64_t pid) const;
  std::vector<Switches> switches(std::int64_t pid) const;  // one a living thread

  // Time all cores together spent at work since boot: not idle, not waiting for storage, not taken by a
  // hypervisor.
  std::optional<Seconds> busy() const;
  // Time some task waited for "cpu", "memory" or "io", since boot.
  std::optional<Seconds> pressure(const std::string& of) const;
  // A whole number in a file below the root, such as sys/kernel/perf_event_paranoid.
  std::optional<std::int64_t> number(const std::string& file) const;

 private:
  std::optional<std::string> read(const std::string& file) const;
  std::string root_;
};

}  // namespace tandem::platform
