// Who may do what (docs/security.md). Pure; thread-safe.
//
//   by token     whoever it was made for, in its role; a wrong one is refused even where none is needed:
//                whoever sends one believes it matters
//   by socket    the kernel says who connected: the server's user and root operate, others have the role the
//                server gives them (none, but where it takes jobs of all users)
//   over TCP     nothing without a token, loopback or not
//
// Reading needs the role view, changing submit; a route may be open to whoever gets as far as asking. Whose job
// it is, is for the handlers.
//
// A browser on this machine can be made to ask us by any page it shows (DNS rebinding), so requests over
// loopback TCP must also name us in their Host header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/http/http_message.h"

namespace tandem::server {

enum class Need { nothing, read, change };

const char* name(Role);
std::optional<Role> parse_role(const std::string&);  // view, submit, operate

struct ShownToken {
  bool shown = false;
  std::optional<Identity> holder{};  // none of one that was shown: it is wrong
};

// Who the server's own user is, and what other users of this machine are over its sockets.
struct SocketRights {
  unsigned owner = 0;
  Role others = Role::none;
};

// Throws Refusal (401) for a wrong token.
Identity identified(const Caller&, const ShownToken&, const SocketRights&);
// Why not, with its status (401 or 403); nullopt: go ahead.
std::optional<Refusal> access_refused(Need, const Identity&, const Caller&);

// Is this Host header ("localhost:8470") this machine, or one of `also`? Ports are not compared: a tunnel
// changes them.
bool host_is_ours(const std::string& host, const std::vector<std::string>& also = {});

}  // namespace tandem::server
