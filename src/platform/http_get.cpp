#include "platform/http_get.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace tandem::platform {
namespace {

using Clock = std::chrono::steady_clock;

struct Socket {
  int fd = -1;
  explicit Socket(int descriptor) : fd(descriptor) {}
  ~Socket() {
    if (fd >= 0) ::close(fd);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
};

class Request {
 public:
  Request(const HttpUrl& url, const HttpLimits& limits)
      : url_(url),
        limits_(limits),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(limits.at_most.value))) {}

  std::string run() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(url_.host.c_str(), url_.port.c_str(), &hints, &found); error != 0)
      fail(std::string("cannot find the host: ") + gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
    int last_error = 0;
    for (const addrinfo* address = found; address; address = address->ai_next) {
      Socket socket(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (socket.fd < 0 || !connect(socket.fd, *address)) {
        last_error = errno;
        continue;
      }
      send(socket.fd);
      return body(receive(socket.fd));
    }
    fail("cannot connect", last_error);
  }

 private:
  [[noreturn]] void fail(const std::string& why, int error_number = 0) const {
    throw SystemError("http://" + url_.host + ":" + url_.port + url_.path + ": " + why, error_number);
  }

  void wait(int fd, short events) const {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
      if (left <= 0) fail("no answer in time");
      std::array<pollfd, 2> polled{{{fd, events, 0}, {limits_.cancel_fd, POLLIN, 0}}};
      const int ready = poll(polled.data(), polled.size(), static_cast<int>(left));
      if (ready < 0 && errno != EINTR) fail("waiting", errno);
      if (polled[1].revents != 0) fail("called off");
      if (ready > 0 && polled[0].revents != 0) return;
    }
  }

  bool connect(int fd, const addrinfo& address) const {
    if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS) return false;
    wait(fd, POLLOUT);
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    return error == 0;
  }

  void send(int fd) const {
    const std::string host = url_.host.find(':') == std::string::npos ? url_.host : "[" + url_.host + "]";
    // 1.0 keeps the server from answering in chunks and from holding the connection.
    const std::string request = "GET " + url_.path + " HTTP/1.0\r\nHost: " + host + ":" + url_.port +
                                "\r\nAccept: */*\r\nConnection: close\r\n\r\n";
    std::size_t sent = 0;
    while (sent < request.size()) {
      wait(fd, POLLOUT);
      const auto now = ::send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (now < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (now < 0) fail("sending", errno);
      sent += static_cast<std::size_t>(now);
    }
  }

  std::string receive(int fd) const {
    std::string answer;
    std::array<char, 4096> buffer;
    for (;;) {
      wait(fd, POLLIN);
      const auto got = recv(fd, buffer.data(), buffer.size(), 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got < 0) fail("receiving", errno);
      if (got == 0) return answer;
      answer.append(buffer.data(), static_cast<std::size_t>(got));
      if (answer.size() > limits_.most_bytes)
        fail("the answer is longer than " + std::to_string(limits_.most_bytes) + " bytes");
      if (complete(answer)) return answer;
    }
  }

  // A server may keep the connection open after the length it announced.
  bool complete(const std::string& answer) const {
    const auto head_end = answer.find("\r\n\r\n");
    if (head_end == std::string::npos) return false;
    const auto length = header(std::string_view(answer).substr(0, head_end), "content-length");
    return length && answer.size() - head_end - 4 >= content_length(*length);
  }

  std::size_t content_length(std::string_view written) const {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), length);
    if (error != std::errc() || end != written.data() + written.size())
      fail("Content-Length is not a number: " + printable(written, 40));
    return length;
  }

  static std::optional<std::string_view> header(std::string_view head, std::string_view lower_name) {
    while (!head.empty()) {
      const auto line = head.substr(0, head.find("\r\n"));
      head.remove_prefix(std::min(head.size(), line.size() + 2));
      const auto colon = line.find(':');
      if (colon != lower_name.size()) continue;
      const bool same = std::equal(lower_name.begin(), lower_name.end(), line.begin(), [](char a, char b) {
        return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
      });
      if (!same) continue;
      auto value = line.substr(colon + 1);
      value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
      return value.substr(0, value.find_last_not_of(" \t") + 1);
    }
    return std::nullopt;
  }

  std::string body(const std::string& answer) const {
    const auto head_end = answer.find("\r\n\r\n");
    const auto head = std::string_view(answer).substr(0, head_end);
    const auto status_line = head.substr(0, head.find("\r\n"));
    if (!status_line.starts_with("HTTP/1.") || head_end == std::string::npos) fail("the answer is not HTTP");
    if (status_line.size() < 12 || status_line.substr(8, 4) != " 200")
      fail("answered " + printable(status_line.substr(std::min<std::size_t>(9, status_line.size())), 80));
    if (header(head, "transfer-encoding")) fail("the answer comes in an encoding that was not asked for");
    std::string content = answer.substr(head_end + 4);
    if (const auto length = header(head, "content-length")) {
      if (content.size() < content_length(*length)) fail("the answer ends too early");
      content.resize(content_length(*length));
    }
    return content;
  }

  const HttpUrl& url_;
  const HttpLimits& limits_;
  const Clock::time_point end_;
};

}  // namespace

HttpUrl parse_http_url(const std::string& written) {
  const auto refuse = [&](const std::string& why) -> UserError {
    return UserError("energy.url: '" + printable(written, 200) + "' " + why +
                     "; write it like http://192.168.1.20/power");
  };
  constexpr std::string_view kScheme = "http://";
  if (!written.starts_with(kScheme)) throw refuse("does not start with http:// (https is not supported)");
  if (std::any_of(written.begin(), written.end(),
                  [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }))
    throw refuse("holds a blank or a control character");
  HttpUrl url;
  const auto path_at = std::min(written.find('/', kScheme.size()), written.size());
  std::string place = written.substr(kScheme.size(), path_at - kScheme.size());
  if (path_at < written.size()) url.path = written.substr(path_at, written.find('#') - path_at);
  if (place.find('@') != std::string::npos) throw refuse("holds a user name, which is not supported");
  const auto bracket = place.find(']');
  const auto colon = place.find(':', bracket == std::string::npos ? 0 : bracket);
  if (colon != std::string::npos) {
    url.port = place.substr(colon + 1);
    int port = 0;
    const auto [end, error] = std::from_chars(url.port.data(), url.port.data() + url.port.size(), port);
    if (error != std::errc() || end != url.port.data() + url.port.size() || port < 1 || port > 65535)
      throw refuse("has a port that is not a number from 1 to 65535");
    place.resize(colon);
  }
  if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
  if (place.empty()) throw refuse("names no host");
  url.host = place;
  return url;
}

std::string http_get(const HttpUrl& url, const HttpLimits& limits) {
  return Request(url, limits).run();
}

}  // namespace tandem::platform
