#include "server/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace tandem::server {
namespace {

SocketAddress unix_address(const std::filesystem::path& path) {
  SocketAddress out;
  auto& address = reinterpret_cast<sockaddr_un&>(out.storage);
  const std::string& name = path.native();
  if (name.size() >= sizeof address.sun_path)
    throw UserError("the socket's path has " + std::to_string(name.size()) +
                    " bytes, and the system allows " + std::to_string(sizeof address.sun_path - 1) + ": " +
                    printable(name, 200) + "; choose a shorter one");
  if (name.find('\0') != std::string::npos) throw UserError("the socket's path holds a NUL byte");
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  out.size = sizeof address;
  return out;
}

SocketAddress ip_address(const std::string& host, std::uint16_t port) {
  SocketAddress out;
  auto& four = reinterpret_cast<sockaddr_in&>(out.storage);
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    out.size = sizeof four;
    return out;
  }
  auto& six = reinterpret_cast<sockaddr_in6&>(out.storage);
  if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    out.size = sizeof six;
    return out;
  }
  throw UserError("'" + printable(host, 100) + "' is no IP address; write it like 127.0.0.1 or ::1");
}

}  // namespace

bool SocketAddress::is_loopback() const {
  if (storage.ss_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr) >> 24) == 127;
  if (storage.ss_family != AF_INET6) return false;
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

SocketAddress socket_address(const Address& address) {
  return address.is_unix() ? unix_address(address.socket) : ip_address(address.host, address.port);
}

Address parse_address(const std::string& written) {
  const auto refuse = [&](const std::string& why) {
    return UserError("address '" + printable(written, 200) + "' " + why +
                     "; write it like unix:/run/tandem.sock or 127.0.0.1:8470");
  };
  Address address;
  if (written.starts_with("unix:")) {
    address.socket = written.substr(5);
    if (!address.is_unix()) throw refuse("names no socket");
    socket_address(address);
    return address;
  }
  const auto colon = written.rfind(':');
  if (colon == std::string::npos) throw refuse("has no port");
  const char* const end = written.data() + written.size();
  const auto [stop, error] = std::from_chars(written.data() + colon + 1, end, address.port);
  if (error != std::errc() || stop != end) throw refuse("has a port that is not a number from 0 to 65535");
  address.host = written.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  else if (address.host.find(':') != std::string::npos)
    throw refuse("holds an IPv6 address without [ ]");
  if (address.host == "localhost") address.host = "127.0.0.1";
  socket_address(address);
  return address;
}

std::string text(const Address& address) {
  if (address.is_unix()) return "unix:" + address.socket.string();
  const bool six = address.host.find(':') != std::string::npos;
  return (six ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace tandem::server
