#include "server/http/access.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace tandem::server {

namespace {

const std::map<std::string, std::string> kHow{{"WWW-Authenticate", "Bearer"}};

// "", or ":8470".
bool is_port_or_nothing(std::string_view text) {
  if (text.empty()) return true;
  std::uint16_t port = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + 1, last, port);
  return text.front() == ':' && error == std::errc() && end == last;
}

}  // namespace

const char* name(Role role) {
  switch (role) {
    case Role::view: return "view";
    case Role::submit: return "submit";
    case Role::operate: return "operate";
    case Role::none: break;
  }
  return "none";
}

std::optional<Role> parse_role(const std::string& written) {
  for (const Role role : {Role::view, Role::submit, Role::operate})
    if (written == name(role)) return role;
  return std::nullopt;
}

Identity identified(const Caller& caller, const ShownToken& token, const SocketRights& rights) {
  if (token.holder) return *token.holder;
  if (token.shown) throw Refusal(401, "the token is not this server's, or was revoked", kHow);
  if (!caller.unix_socket || !caller.user) return {};
  const bool operates = *caller.user == rights.owner || *caller.user == 0;
  return {operates ? Role::operate : rights.others, *caller.user, "user " + std::to_string(*caller.user)};
}

std::optional<Refusal> access_refused(Need need, const Identity& who, const Caller& caller) {
  const Role needed = need == Need::change ? Role::submit : need == Need::read ? Role::view : Role::none;
  if (who.role >= needed) return std::nullopt;
  if (who.role != Role::none)
    return Refusal(403, who.name + " may " + name(who.role) + " only; this needs the role " + name(needed));
  if (caller.unix_socket)
    return Refusal(403, "this server is its own user's; others need a token from them (tandem token create)");
  return Refusal(401,
                 "this needs a token (Authorization: Bearer TOKEN): the one in the server's token file, or "
                 "one that `tandem token create` made",
                 kHow);
}

bool host_is_ours(const std::string& host, const std::vector<std::string>& also) {
  std::string name = host;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // All that follows the name, or the address in its brackets, is a port.
  const auto end = name.starts_with('[') ? name.find(']') : std::min(name.find(':'), name.size()) - 1;
  if (end == std::string::npos || !is_port_or_nothing(std::string_view(name).substr(end + 1))) return false;
  name.resize(end + 1);
  if (name == "[::1]" || name == "localhost") return true;
  if (std::find(also.begin(), also.end(), name) != also.end()) return true;
  if (name.find_first_not_of("0123456789.") != std::string::npos) return false;
  in_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

}  // namespace tandem::server
