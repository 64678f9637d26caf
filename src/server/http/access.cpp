#include "server/http/access.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

namespace tandem::server {

std::optional<Refusal> access_refused(Need need, const Caller& caller, ShownToken token, unsigned owner) {
  if (token == ShownToken::right) return std::nullopt;
  const std::map<std::string, std::string> how{{"WWW-Authenticate", "Bearer"}};
  if (token == ShownToken::wrong) return Refusal(401, "the token is not this server's", how);
  if (caller.unix_socket) {
    if (need == Need::read || caller.user == owner) return std::nullopt;
    return Refusal(403,
                   "only the user who runs the server may change something over its socket; others "
                   "need the token (Authorization: Bearer TOKEN)");
  }
  if (need == Need::read && caller.loopback) return std::nullopt;
  return Refusal(401, "this needs the token (Authorization: Bearer TOKEN); it is in the server's token file",
                 how);
}

bool host_is_ours(const std::string& host, const std::vector<std::string>& also) {
  std::string name = host;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.starts_with('[')) {
    const auto bracket = name.find(']');
    return bracket != std::string::npos && name.substr(1, bracket - 1) == "::1";
  }
  name.resize(std::min(name.find(':'), name.size()));
  if (name == "localhost" || std::find(also.begin(), also.end(), name) != also.end()) return true;
  in_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

}  // namespace tandem::server
