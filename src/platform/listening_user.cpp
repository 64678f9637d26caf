#include "platform/listening_user.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace tandem::platform {

std::optional<uid_t> listening_user(std::uint16_t port, const std::filesystem::path& proc) {
  std::optional<uid_t> found;
  for (const char* table : {"net/tcp", "net/tcp6"}) {
    std::ifstream in(proc / table);
    for (std::string line; std::getline(in, line);) {
      unsigned local = 0, state = 0, user = 0;
      // sl local:port remote:port st tx:rx tr:when retrnsmt uid ...
      if (std::sscanf(line.c_str(), " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u", &local, &state,
                      &user) != 3)
        continue;
      constexpr unsigned kListening = 0x0A;
      if (local != port || state != kListening) continue;
      if (found && *found != user) return std::nullopt;
      found = user;
    }
  }
  return found;
}

}  // namespace tandem::platform
