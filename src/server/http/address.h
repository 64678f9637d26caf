// Where a server listens and a client connects: a Unix socket, or an IP address and a port. Plain values.
//
// Written "unix:/run/user/1000/tandem/server.sock", "127.0.0.1:8470" or "[::1]:8470"; "localhost" is
// 127.0.0.1, other names are not looked up.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace tandem::server {

struct Address {
  std::filesystem::path socket;  // empty: the IP address below
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0, for a server: any free one

  bool is_unix() const { return !socket.empty(); }
  bool operator==(const Address&) const = default;
};

// Throws UserError.
Address parse_address(const std::string&);
std::string text(const Address&);

// As the kernel wants it; throws UserError when it cannot be (a socket's path has at most 107 bytes).
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  bool is_loopback() const;  // of an IP address
};
SocketAddress socket_address(const Address&);

}  // namespace tandem::server
