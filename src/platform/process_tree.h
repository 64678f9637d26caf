// Processes as families: who comes from whom, and how a whole family is ended whatever its members did to get
// away (a session of their own, a parent that ended, an empty environment).
//
// A keeper is a process between Tandem and a program. It is the one to whom all that the program leaves behind
// falls (a subreaper); it ends all of that when the program has ended, and the program too when Tandem is gone,
// however Tandem ended. No record, mark or right is needed for it. It leaves the program itself unreaped: that
// falls to Tandem, with its exit status and its last numbers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::platform {

// Live processes of which `root` is an ancestor.
std::vector<pid_t> descendants(pid_t root);
// The live processes of a session.
std::vector<pid_t> session_members(pid_t session);
// Live children of this process that it has not started itself: what fell to it. It knows those of `launch`,
// those in its own session, and what it was told of here.
std::vector<pid_t> orphans();
void note_own_child(pid_t);
void end_orphans();

// Stops, then ends, every process below `root`: what is stopped starts no other. `root` stays.
void end_descendants(pid_t root);
// Ends them all, and what is below them; true once none is alive. Gives up after some seconds.
bool end_all(const std::vector<pid_t>&);

// From now on orphans below this process fall to it.
void adopt_orphans();
// Makes this process, just forked by `parent`, a keeper, and returns in the program's process: the keeper's
// pid. The program's is written to `pid_to`.
pid_t begin_keeper(pid_t parent, int pid_to);
// What a keeper does, for one that was forked elsewhere and has become a program of its own (src/keeper): `program` is
// its child, and all signals are blocked.
[[noreturn]] void keep(pid_t program);

// A tag is a number that a program and all that comes from it inherit, whatever they do to their session, parents
// and environment: the limit of file locks (RLIMIT_LOCKS), which the kernel keeps and has not used since 2.4. Only
// who lowers it on purpose loses it. 0: there is no room for one below our own.
std::uint64_t new_tag();
std::vector<pid_t> tagged_processes(std::uint64_t tag);

// This boot and this namespace of process numbers: elsewhere the same number is somebody else's.
std::string pid_scope();

}  // namespace tandem::platform
