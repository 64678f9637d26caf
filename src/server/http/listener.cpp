#include "server/http/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <cerrno>

#include "base/error.h"

namespace tandem::server {
namespace fs = std::filesystem;
namespace {

constexpr int kBacklog = 1024;

platform::Descriptor make_socket(int family) {
  platform::Descriptor descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor) throw_errno("making a socket");
  return descriptor;
}

// Without the sticky bit, whoever may write the folder may put a socket of their own in our place.
void check_folder(const fs::path& folder, mode_t mode) {
  const bool made = ::mkdir(folder.c_str(), 0700) == 0;  // a failure shows below
  if (made && (mode & 077) != 0) ::chmod(folder.c_str(), 0755);
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0)
    throw UserError("the socket's folder " + folder.string() + " does not exist; make it, or choose another");
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    throw UserError(
        fmt::format("the socket's folder {} belongs to user {}, who could put a socket of their "
                    "own there; choose another",
                    folder.string(), info.st_uid));
  if ((info.st_mode & 022) != 0 && (info.st_mode & S_ISVTX) == 0)
    throw UserError(
        fmt::format("others may write the socket's folder {} (mode {:04o}), so they could put a socket of "
                    "their own there; run: chmod go-w {}, or choose another",
                    folder.string(), info.st_mode & 07777, folder.string()));
}

bool somebody_listens(const Address& address) {
  const auto probe = make_socket(AF_UNIX);
  const auto where = socket_address(address);
  if (::connect(probe.get(), where.get(), where.size) == 0) return true;
  if (errno == ECONNREFUSED || errno == ENOENT) return false;
  if (errno == EAGAIN) return true;  // its queue is full
  throw_errno("trying the socket " + address.socket.string());
}

[[noreturn]] void in_use(const Address& address, const std::string& owner) {
  throw UserError("the socket " + address.socket.string() + " is served already" +
                  (owner.empty() ? "" : " by " + owner) + "; stop that server, or choose another socket");
}

void check_place(const Address& address) {
  struct stat info {};
  if (::lstat(address.socket.c_str(), &info) != 0) {
    if (errno == ENOENT) return;
    throw_errno("looking at " + address.socket.string());
  }
  if (!S_ISSOCK(info.st_mode))
    throw UserError(address.socket.string() +
                    " is in the way of the server's socket and is not one; move it, or choose another");
  if (somebody_listens(address)) in_use(address, "");
}

}  // namespace

Listener Listener::open(const Address& address, mode_t mode) {
  Listener listener;
  listener.address_ = address;
  if (address.is_unix())
    listener.open_unix(mode);
  else
    listener.open_ip();
  return listener;
}

void Listener::open_unix(mode_t mode) {
  const fs::path folder = fs::absolute(address_.socket).parent_path();
  check_folder(folder, mode);
  Address draft;
  draft.socket = address_.socket.string() + ".new";
  const auto where = socket_address(draft);
  std::string owner;
  lock_ = platform::MachineLock::take(fs::canonical(folder) / (address_.socket.filename().string() + ".lock"),
                                      fmt::format("process {}", ::getpid()), &owner,
                                      "remove it, or choose another socket");
  if (!lock_) in_use(address_, owner);
  check_place(address_);
  descriptor_ = make_socket(AF_UNIX);
  ::unlink(draft.socket.c_str());  // left by a crash: the lock is ours
  struct stat info {};
  if (::bind(descriptor_.get(), where.get(), where.size) != 0 || ::chmod(draft.socket.c_str(), mode) != 0 ||
      ::lstat(draft.socket.c_str(), &info) != 0 || ::listen(descriptor_.get(), kBacklog) != 0 ||
      ::rename(draft.socket.c_str(), address_.socket.c_str()) != 0) {
    const int error = errno;
    ::unlink(draft.socket.c_str());
    errno = error;
    throw_errno("making the socket " + address_.socket.string());
  }
  file_ = Identity{info.st_dev, info.st_ino};
}

void Listener::open_ip() {
  auto where = socket_address(address_);
  descriptor_ = make_socket(where.storage.ss_family);
  const int on = 1;
  ::setsockopt(descriptor_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (where.storage.ss_family == AF_INET6)
    ::setsockopt(descriptor_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(descriptor_.get(), where.get(), where.size) != 0 || ::listen(descriptor_.get(), kBacklog) != 0) {
    if (errno == EADDRINUSE)
      throw UserError(text(address_) +
                      " is in use by another program; stop it, or choose another port (0: "
                      "any free one)");
    if (errno == EACCES)
      throw UserError("you may not listen on " + text(address_) +
                      "; ports under 1024 are the "
                      "administrator's, choose a higher one");
    if (errno == EADDRNOTAVAIL)
      throw UserError(text(address_) + " is no address of this machine; choose 127.0.0.1 or ::1");
    throw_errno("listening on " + text(address_));
  }
  if (::getsockname(descriptor_.get(), where.get(), &where.size) != 0) throw_errno("asking for the port");
  address_.port =
      ntohs(where.storage.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(where.storage).sin_port
                                               : reinterpret_cast<sockaddr_in6&>(where.storage).sin6_port);
}

void Listener::close() {
  if (!descriptor_) return;
  struct stat info {};
  if (file_ && ::lstat(address_.socket.c_str(), &info) == 0 && info.st_dev == file_->device &&
      info.st_ino == file_->inode)
    ::unlink(address_.socket.c_str());
  descriptor_.reset();
  lock_.reset();
}

Listener::~Listener() {
  close();
}

}  // namespace tandem::server
