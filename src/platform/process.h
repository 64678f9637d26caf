// Starts programs in a process group of their own, behind a gate, and finds what is left of them.
//
// A launched child waits at the gate, before exec, until `open_gate`: meanwhile its parent puts it into
// cgroups and attaches sensors, so that nothing it does goes unseen. It dies with its parent
// (PR_SET_PDEATHSIG), has no descriptors but its standard streams and `inherited`, and every process below it
// carries a mark in its environment by which it can be found after a crash.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "platform/descriptor.h"

namespace tandem::platform {

inline constexpr const char* kMarkVariable = "TANDEM_MARK";

struct Launch {
  std::vector<std::string> arguments;              // [0] is looked up in PATH
  std::map<std::string, std::string> environment;  // added to this process's own
  std::string mark;       // unique: names this attempt in the environment of all its processes
  int inherited = -1;     // a descriptor the program keeps, under the same number
  int output = -1;        // its standard output and error
  int errors = -1;        // its standard error, where that goes elsewhere
  std::vector<int> cpus;  // empty: wherever this process may run
  Bytes data_limit = 0;   // RLIMIT_DATA; 0: none
  std::string folder;     // where it runs; empty: where this process does
};

struct Child {
  pid_t pid = -1;
  std::int64_t started = 0;  // /proc/PID/stat field 22: with the pid it names the process for good
  Descriptor pidfd;          // readable once it has ended
  Descriptor gate;           // closed or written: the program begins
  Descriptor status;         // errno of a failed exec arrives here
};

// Throws SystemError when no process can be made.
Child launch(const Launch&);
// Lets the program begin. Returns errno of exec when there is no such program, 0 when it runs.
int open_gate(Child&);

// 0 when there is no such process.
std::int64_t start_time_of(pid_t);
// All live processes whose environment carries the mark (those of other users cannot be seen).
std::vector<pid_t> marked_processes(const std::string& mark);
// The live processes of a process group.
std::vector<pid_t> group_members(pid_t group);
// Restricts every thread of the processes to these cpus; those it starts later inherit it.
void set_affinity(const std::vector<pid_t>&, const std::vector<int>& cpus);
// For processes that only have to end: any of these cpus, at low priority, since others work there.
void step_aside(const std::vector<pid_t>&, const std::vector<int>& cpus);
void set_data_limit(const std::vector<pid_t>&, Bytes limit);  // 0: none

}  // namespace tandem::platform
