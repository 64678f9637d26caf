#include "runtime/slurm/links.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>

#include "base/error.h"
#include "runtime/common/clock.h"
#include "runtime/slurm/agent.h"

namespace tandem::slurm {
namespace {

constexpr double kTimeToJoin = 10;
constexpr std::size_t kMostStrangers = 256;

std::string new_token() {
  std::array<unsigned char, 16> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw_errno("making a token");
  std::string out;
  for (unsigned char byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

// Takes as long whatever is wrong with it.
bool same(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

void watch(int epoll, int descriptor, std::uint64_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) throw_errno("watching a connection");
}

}  // namespace

Links::Links(const std::string& address, Listener listener) : listener_(std::move(listener)) {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  listening_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  if (::inet_pton(AF_INET, address.c_str(), &at.sin_addr) != 1)
    throw SystemError("'" + address + "' is no IPv4 address to listen on");
  socklen_t size = sizeof(at);
  auto* generic = reinterpret_cast<sockaddr*>(&at);
  if (!epoll_ || !listening_ || ::bind(listening_.get(), generic, size) != 0 ||
      ::listen(listening_.get(), 1024) != 0 || ::getsockname(listening_.get(), generic, &size) != 0)
    throw_errno("listening for agents on " + address);
  port_ = ntohs(at.sin_port);
  watch(epoll_.get(), listening_.get(), 0);
}

void Links::look() {
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const auto key = ready[static_cast<std::size_t>(i)].data.u64;
    if (key == 0)
      accept_all();
    else
      read(key);
  }
  std::vector<std::uint64_t> late;
  for (const auto& [key, link] : links_)
    if (link.mark.empty() && runtime::steady().value - link.accepted > kTimeToJoin) late.push_back(key);
  for (auto key : late) close(key);
}

void Links::accept_all() {
  while (true) {
    platform::Descriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    if (links_.size() - joined_.size() >= kMostStrangers) continue;
    watch_for_loss(socket.get());
    const auto key = next_++;
    watch(epoll_.get(), socket.get(), key);
    links_[key] = {std::move(socket), {}, "", runtime::steady().value};
  }
}

void Links::read(std::uint64_t key) {
  std::array<char, 1 << 14> bytes;  // a piece a look: a program that floods keeps no other waiting
  auto found = links_.find(key);
  if (found == links_.end()) return;
  const ssize_t got = ::recv(found->second.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return close(key);
  try {
    found->second.lines.feed({bytes.data(), static_cast<std::size_t>(got)});
    while (auto line = found->second.lines.next()) {
      if (!take(key, *line)) return close(key);
      found = links_.find(key);  // what was heard may have cut it off
      if (found == links_.end()) return;
    }
  } catch (const protocol::ProtocolError& e) {
    // Of a stranger nobody hears; of an agent, what it relayed is at fault.
    const std::string mark = found->second.mark;
    if (!mark.empty()) listener_.heard(mark, Broke{e.what()});
    return close(key);
  }
}

// False: it must go.
bool Links::take(std::uint64_t key, const std::string& line) {
  const auto message = parse_from_agent(line);
  Link& link = links_.at(key);
  const auto* join = std::get_if<Join>(&message);
  if (link.mark.empty()) {
    const auto token = join ? tokens_.find(join->mark) : tokens_.end();
    if (token == tokens_.end() || !same(token->second, join->token)) return false;
    link.mark = join->mark;
    joined_[join->mark] = key;
    tokens_.erase(token);
  } else if (join) {
    return false;
  }
  const std::string mark = link.mark;
  listener_.heard(mark, message);
  return true;
}

void Links::close(std::uint64_t key) {
  auto node = links_.extract(key);
  if (!node) return;
  const std::string mark = node.mapped().mark;
  if (mark.empty()) return;
  joined_.erase(mark);
  listener_.left(mark);
}

std::string Links::expect(const std::string& mark) {
  return tokens_[mark] = new_token();
}

void Links::forget(const std::string& mark) {
  tokens_.erase(mark);
  if (auto found = joined_.find(mark); found != joined_.end()) {
    links_.erase(found->second);
    joined_.erase(found);
  }
}

bool Links::send(const std::string& mark, const ToAgent& message) {
  const auto found = joined_.find(mark);
  if (found == joined_.end()) return false;
  const std::string text = line(message);
  const int socket = links_.at(found->second).socket.get();
  const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(text.size())) return true;
  // An agent always reads: one whose buffer is full is gone, and half a line must not be followed by another.
  ::shutdown(socket, SHUT_RDWR);
  return false;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) throw_errno("looking for this machine's addresses");
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK)) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size())) out.emplace_back(text.data());
  }
  ::freeifaddrs(all);
  return out;
}

}  // namespace tandem::slurm
