// System calls that a sandboxed program has no use for, and whoever attacks the kernel or a neighbour has: refused with
// EPERM by a seccomp filter, which all that comes from the program inherits (docs/security.md has the list).
#pragma once

#include <string>

namespace tandem::platform {

// For good, for this thread and its children; no-new-privileges must hold. 0 or errno: EINVAL where the kernel has
// no such filters, ENOSYS where we have none for this processor. Makes system calls alone.
int refuse_system_calls();

// Is the filter in force for this process? Asks for a call that is allowed elsewhere and does nothing.
bool system_calls_are_refused();

}  // namespace tandem::platform
