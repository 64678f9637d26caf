// Who may do what. Pure; thread-safe.
//
//   reading    from this machine (Unix socket or loopback) without a token; from elsewhere with it
//   changing   with the token, or by the owner of the Unix socket (the kernel says who connected)
//   a wrong token is refused even where none is needed: whoever sends one believes it matters
//
// A browser on this machine can be made to ask us by any page it shows (DNS rebinding), so requests over
// loopback TCP must also name us in their Host header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/http/http_message.h"

namespace tandem::server {

enum class Need { read, change };
enum class ShownToken { none, wrong, right };

// Why not, with its status (401 or 403); nullopt: go ahead. `owner` is the user the server runs as.
std::optional<Refusal> access_refused(Need, const Caller&, ShownToken, unsigned owner);

// Is this Host header ("localhost:8470") this machine, or one of `also`? Ports are not compared: a tunnel
// changes them.
bool host_is_ours(const std::string& host, const std::vector<std::string>& also = {});

}  // namespace tandem::server
