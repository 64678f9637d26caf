#include "runtime/slurm/agent_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "runtime/common/clock.h"
#include "runtime/slurm/agent.h"

namespace tandem::slurm {
namespace {

using platform::Descriptor;

std::string variable(const char* name) {
  const char* value = ::getenv(name);
  return value ? value : "";
}

Descriptor connect_to(const std::string& address, int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) return {};
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{5, 0};
  if (!socket) return {};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));  // bounds connect, too
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) return {};
  watch_for_loss(socket.get());
  return socket;
}

Descriptor reach(const Ticket& ticket) {
  for (const double until = runtime::steady().value + kPatience; runtime::steady().value < until;
       ::usleep(500'000))
    for (const auto& address : ticket.addresses)
      if (auto socket = connect_to(address, ticket.port)) return socket;
  return {};
}

}  // namespace

AgentLink::AgentLink(const Ticket& ticket) : socket_(reach(ticket)) {}

void AgentLink::send(const FromAgent& message) {
  const std::string text = line(message);
  for (std::size_t done = 0; socket_ && done < text.size();) {
    const ssize_t sent = ::send(socket_.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return close();
    done += static_cast<std::size_t>(sent);
  }
}

std::vector<ToAgent> AgentLink::receive() {
  std::vector<ToAgent> out;
  std::array<char, 1 << 16> bytes;
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return out;
  try {
    if (got > 0) lines_.feed({bytes.data(), static_cast<std::size_t>(got)});
    while (auto line = lines_.next()) out.push_back(parse_to_agent(*line));
  } catch (const protocol::ProtocolError& e) {
    std::fprintf(stderr, "tandem-slurm-agent: %s\n", e.what());
    close();
  }
  if (got <= 0) close();
  return out;
}

Descriptor catch_signals() {
  sigset_t ours;
  sigemptyset(&ours);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ours, signal);
  ::sigprocmask(SIG_BLOCK, &ours, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return Descriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
}

Seconds wall_clock() {
  return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

ExitRecord new_record(const Ticket& ticket) {
  ExitRecord record;
  record.mark = ticket.mark;
  record.job = ::atoll(variable("SLURM_JOB_ID").c_str());
  record.node = variable("SLURMD_NODENAME");
  return record;
}

bool claim(const Ticket& ticket) {
  Descriptor file(::open(ticket.claim.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file) return true;
  std::fprintf(stderr, "tandem-slurm-agent: %s: %s; it was started before and is not started twice\n",
               ticket.claim.c_str(), ::strerror(errno));
  return false;
}

void watch_for_loss(int socket) {
  auto set = [&](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kNoticed.value * 1000));
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

}  // namespace tandem::slurm
