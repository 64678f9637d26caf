#include "platform/round_trip.h"

#include <netdb.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "platform/descriptor.h"

namespace tandem::platform {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
  return {std::chrono::duration<double>(Clock::now() - start).count()};
}

}  // namespace

RoundTrip::RoundTrip(const std::string& host, const std::string& port)
    : name_(printable(host, 80) + ":" + printable(port, 20)) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
    throw UserError("the master " + name_ + " cannot be found: " + gai_strerror(error) +
                    "; write it as HOST:PORT");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  std::memcpy(&address_, found->ai_addr, found->ai_addrlen);
  length_ = found->ai_addrlen;
}

Seconds RoundTrip::measure(Seconds at_most) const {
  const Descriptor socket(::socket(address_.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) throw_errno("opening a socket to " + name_);
  const auto start = Clock::now();
  const auto answered = [](int error) { return error == 0 || error == ECONNREFUSED; };
  const auto* address = reinterpret_cast<const sockaddr*>(&address_);
  if (::connect(socket.get(), address, length_) == 0 || answered(errno)) return since(start);
  if (errno != EINPROGRESS) throw_errno("reaching " + name_);
  for (;;) {
    const double left = at_most.value - since(start).value;
    if (left <= 0) throw SystemError(name_ + " did not answer within " + text(at_most));
    pollfd waiting{socket.get(), POLLOUT, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::ceil(1e3 * left)));
    if (ready < 0 && errno != EINTR) throw_errno("waiting for " + name_);
    if (ready > 0) break;
  }
  const Seconds took = since(start);
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (!answered(error)) throw SystemError("reaching " + name_, error);
  return took;
}

}  // namespace tandem::platform
