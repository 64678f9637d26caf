// Who listens on a TCP port of this machine, as the kernel says (/proc/net/tcp, /proc/net/tcp6).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tandem::platform {

// None: nobody does, or several users do. `proc` is /proc; tests give another.
std::optional<uid_t> listening_user(std::uint16_t port, const std::filesystem::path& proc = "/proc");

}  // namespace tandem::platform
