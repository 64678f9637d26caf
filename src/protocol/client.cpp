#include "protocol/client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace tandem::protocol {
namespace {

[[noreturn]] void throw_gone() {
  throw Gone("Tandem is gone: it closed the socket, so this program ends too");
}

[[noreturn]] void throw_socket_error(const std::string& doing) {
  if (errno == EPIPE || errno == ECONNRESET) throw_gone();
  throw_errno(doing);
}

}  // namespace

std::optional<Client> Client::connect() {
  const char* written = std::getenv("TANDEM_SOCKET");
  if (written == nullptr || *written == '\0') return std::nullopt;
  int descriptor = -1;
  const char* end = written + std::strlen(written);
  const auto parsed = std::from_chars(written, end, descriptor);
  if (parsed.ec != std::errc() || parsed.ptr != end || descriptor < 0)
    throw UserError("TANDEM_SOCKET is '" + printable(written, 80) +
                    "', not the number of a descriptor; unset it to run outside Tandem");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode))
    throw UserError(
        "TANDEM_SOCKET is " + std::to_string(descriptor) +
        ", but that is no open socket: what started this program closed it (in Python, give subprocess "
        "pass_fds), or the variable is a leftover; unset it to run outside Tandem");
  if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) throw_errno("keeping TANDEM_SOCKET from child programs");
  return Client(descriptor);
}

Begin Client::hello(const Hello& hello) {
  send(hello);
  auto reply = receive();
  if (auto* begin = std::get_if<Begin>(&reply)) return *begin;
  throw ProtocolError("Tandem answered hello with something other than begin");
}

Answer Client::report(Epoch epoch) {
  if (const auto from = std::exchange(ready_at_, std::nullopt))
    epoch.since_ready =
        Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - *from).count()};
  send(epoch);
  auto reply = receive();
  if (auto* answer = std::get_if<Answer>(&reply)) return *answer;
  throw ProtocolError("Tandem answered an epoch with something other than an answer");
}

void Client::ready() {
  ready_at_ = std::chrono::steady_clock::now();
  send(Ready{});
}

void Client::progress(double share) {
  send(Progress{share});
}

void Client::checkpointed(std::int64_t epoch) {
  send(Checkpointed{epoch});
}

void Client::send(const FromProgram& message) {
  const std::string bytes = line(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto count = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count >= 0)
      sent += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      throw_socket_error("writing to Tandem's socket");
  }
}

FromTandem Client::receive() {
  for (;;) {
    if (auto whole = reader_.next()) {
      auto message = parse_from_tandem(*whole);
      if (const auto* refusal = std::get_if<Refusal>(&message))
        throw ProtocolError("Tandem refused what this program said: " + refusal->reason);
      return message;
    }
    char piece[4096];
    const auto count = ::recv(descriptor_, piece, sizeof piece, 0);
    if (count == 0) throw_gone();
    if (count > 0)
      reader_.feed({piece, static_cast<std::size_t>(count)});
    else if (errno != EINTR)
      throw_socket_error("reading from Tandem's socket");
  }
}

}  // namespace tandem::protocol
