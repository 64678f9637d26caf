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
#include "platform/credentials.h"
#include "platform/descriptor.h"
#include "platform/sandbox.h"

namespace tandem::platform {

inline constexpr const char* kMarkVariable = "TANDEM_MARK";

struct Launch {
  std::vector<std::string> arguments;              // [0] is looked up in PATH
  std::map<std::string, std::string> environment;  // added to `base`
  std::optional<std::vector<std::string>> base;    // NAME=VALUE it is added to; none: this process's own
  std::string mark;       // unique: names this attempt in the environment of all its processes
  std::uint64_t tag = 0;  // new_tag(), for all its processes (process_tree.h); 0: none
  int inherited = -1;     // a descriptor the program keeps, under the same number
  int output = -1;        // its standard output and error
  int errors = -1;        // its standard error, where that goes elsewhere
  std::vector<int> cpus;  // empty: wherever this process may run
  Bytes data_limit = 0;   // RLIMIT_DATA; 0: none
  std::string folder;     // where it runs; empty: where this process does
  bool kept = false;      // by a keeper (process_tree.h), which ends all it leaves behind
  std::optional<Credentials> as{};   // the user it runs as; root alone may say so. None: ours
  std::optional<Sandbox> sandbox{};  // what it is kept from
  std::optional<mode_t> umask{};     // none: this process's own
};

struct Child {
  pid_t pid = -1;
  std::int64_t started = 0;  // /proc/PID/stat field 22: with the pid it names the process for good
  pid_t keeper = -1;         // its parent and the leader of its session, where it has one
  std::int64_t keeper_started = 0;
  Descriptor pidfd;          // readable once it has ended; of a kept one, and all it left behind
  Descriptor gate;           // closed or written: the program begins
  Descriptor status;         // what failed before the program began arrives here

  enum class Step { user, sandbox, folder, program };  // becoming the user, ...
  Step failed{};                                       // after open_gate told of an error
};

// Throws SystemError when no process can be made.
Child launch(const Launch&);
// The same by a template (python/tandem/_preload.py), a process that forks its programs: `request` is a line for it,
// `socket` its. Such a child has all that a launched and kept one has; what it was not told by the line it has from
// its template. nullopt, with the reason: there is none, and its template should be ended.
std::optional<Child> fork_from(int socket, const std::string& request, const Launch&, Seconds at_most,
                               std::string& why);
// What a program launched so finds in its environment.
std::map<std::string, std::string> environment_of(const Launch&);
// Lets the program begin. Returns errno of what failed (Child::failed says what), 0 when it runs.
int open_gate(Child&);

// How it ended, once `pidfd` says so; nullopt: not yet. It is not reaped: its last numbers stay in /proc.
struct Ending {
  bool signalled = false;
  int status = 0;  // or the signal
};
std::optional<Ending> look_at_end(const Child&);
// Whether it has ended by then, and a kept one's all too; it is not reaped.
bool ends_within(const Child&, Seconds);
// Waits for its end, and gives its number back.
void reap(const Child&);

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
