// What a program is kept from beside what its user may do: other tasks' files, tokens, /tmp of others, and
// processes that are not its own.
//
//   no-new-privileges  no set-user-id program gives it more rights
//   mount namespace    the store is empty for it but for its own task folder; /tmp and /var/tmp are its own,
//                      empty but for its working folder
//   Landlock           it sees into no process but its own (/proc/PID/root, ptrace) and, from Linux 6.12 on,
//                      signals none
//   seccomp            system calls of attackers are refused (platform/syscall_filter.h)
//
// Applied between fork and exec: enter() makes system calls alone; everything it needs is prepared before.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "platform/probe.h"

#include "platform/credentials.h"

namespace tandem::platform {

class Sandbox {
 public:
  // `hidden`: the store. `own`: the task's folder, which it may write. `kept`: folders that stay where they are
  // even in /tmp: the working folder, where data is and where Tandem's programs are.
  Sandbox(std::filesystem::path hidden, std::filesystem::path own, std::vector<std::filesystem::path> kept);

  // In the child, as the user the parent is. 0, or the errno of what failed: nothing may be run then.
  // What is kept of the machine is found with the permissions of `who`; null: with ours.
  int enter(const Credentials* who = nullptr) const;
  // Once the child is the user it shall be: what is given up for good. 0 or errno.
  static int give_up();

  // What is in force here and why not; each is tried in a child.
  static std::vector<Probe> probe();
  // Why --sandbox cannot keep its promise here; none: it can.
  static std::optional<std::string> missing();

 private:
  int own_namespace() const;
  std::string hidden_, own_;
  std::vector<std::string> kept_;                          // those in /tmp or /var/tmp
  std::vector<std::vector<std::string>> folders_of_kept_;  // to be made there, outermost first
  std::vector<std::string> folders_of_hidden_, folders_of_own_;
  std::string user_map_, group_map_;
};

}  // namespace tandem::platform
