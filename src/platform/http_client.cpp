#include "platform/http_client.h"

#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "platform/descriptor.h"

namespace tandem::platform {
namespace {

using HttpClock = std::chrono::steady_clock;
using Kind = HttpTrouble::Kind;

constexpr std::size_t kMostHead = 64 * 1024;
constexpr std::string_view kEndOfHead = "\r\n\r\n", kEndOfLine = "\r\n";

HttpClock::time_point end_of(Seconds at_most) {
  return HttpClock::now() +
         std::chrono::duration_cast<HttpClock::duration>(std::chrono::duration<double>(at_most.value));
}

std::optional<std::string_view> header(std::string_view head, std::string_view lower_name) {
  while (!head.empty()) {
    const auto line = head.substr(0, head.find(kEndOfLine));
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

std::optional<std::size_t> whole_number(std::string_view written, int base) {
  std::size_t number = 0;
  const char* const end = written.data() + written.size();
  const auto [stop, error] = std::from_chars(written.data(), end, number, base);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::string written(const HttpRequest& request) {
  std::string out = request.method + " " + request.target +
                    (request.version == 10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n") + "Host: " + request.host +
                    "\r\nAccept: */*\r\nConnection: close\r\n";
  if (!request.authorization.empty()) out += "Authorization: " + request.authorization + "\r\n";
  if (!request.idempotency_key.empty()) out += "Idempotency-Key: " + request.idempotency_key + "\r\n";
  if (!request.body.empty() && !request.content_type.empty())
    out += "Content-Type: " + request.content_type + "\r\n";
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT")
    out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return out + "\r\n" + request.body;
}

// What comes in, understood as far as it goes.
class AnswerReader {
 public:
  explicit AnswerReader(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // True: the answer is complete.
  bool take(std::string_view bytes) {
    rest_.append(bytes);
    if (!headed_ && !take_head()) return false;
    if (empty_) return true;
    if (chunked_) return take_chunks();
    check_length(rest_.size());
    return length_ && rest_.size() >= *length_;
  }

  // At the end of the connection, or once complete.
  HttpAnswer finished(bool complete) {
    if (!headed_) fail("the answer is not HTTP");
    if (!complete && (chunked_ || length_)) fail("the answer ends too early");
    if (!chunked_ && !empty_) answer_.body = length_ ? rest_.substr(0, *length_) : rest_;
    return std::move(answer_);
  }

 private:
  [[noreturn]] static void fail(const std::string& why) { throw HttpTrouble(Kind::not_http, why); }

  void check_length(std::size_t bytes) const {
    if (bytes > most_bytes_)
      throw HttpTrouble(Kind::too_long,
                        "the answer is longer than " + std::to_string(most_bytes_) + " bytes");
  }

  bool take_head() {
    const auto end = rest_.find(kEndOfHead);
    if (std::min(end, rest_.size()) > kMostHead)
      fail("the head of the answer is longer than " + std::to_string(kMostHead) + " bytes");
    if (end == std::string::npos) return false;
    const std::string head = rest_.substr(0, end);
    rest_.erase(0, end + kEndOfHead.size());
    headed_ = true;
    take_status(head.substr(0, head.find(kEndOfLine)));
    if (const auto type = header(head, "content-type")) answer_.content_type = *type;
    empty_ = answer_.status == 204 || answer_.status == 304;
    if (const auto encoding = header(head, "transfer-encoding")) {
      if (*encoding != "chunked") fail("the answer comes in an encoding that was not asked for");
      chunked_ = true;
    } else if (const auto length = header(head, "content-length")) {
      length_ = whole_number(*length, 10);
      if (!length_) fail("Content-Length is not a number: " + printable(*length, 40));
      check_length(*length_);
    }
    return true;
  }

  void take_status(std::string_view line) {
    if (!line.starts_with("HTTP/1.")) fail("the answer is not HTTP");
    const auto status =
        line.size() < 12 || line[8] != ' ' ? std::nullopt : whole_number(line.substr(9, 3), 10);
    if (!status || *status < 100) fail("answered without a status: " + printable(line, 80));
    answer_.status = static_cast<int>(*status);
    answer_.reason = line.substr(std::min<std::size_t>(13, line.size()));
  }

  // Chunk after chunk: its length in a line of its own, its bytes, an end of line; the last one is empty.
  bool take_chunks() {
    for (;;) {
      const auto end = rest_.find(kEndOfLine, at_);
      if (end == std::string::npos) {
        if (rest_.size() - at_ > kMostHead) fail("a chunk of the answer has no length");
        return false;
      }
      const auto line = std::string_view(rest_).substr(at_, end - at_);
      const auto length = whole_number(line.substr(0, line.find(';')), 16);
      if (!length) fail("a chunk of the answer has no length: " + printable(line, 40));
      if (*length == 0) return true;
      check_length(*length);
      if (rest_.size() < end + 2 + *length + 2) return false;
      answer_.body.append(rest_, end + 2, *length);
      check_length(answer_.body.size());
      rest_.erase(0, end + 2 + *length + 2);
      at_ = 0;
    }
  }

  std::size_t most_bytes_, at_ = 0;
  std::string rest_;  // not understood yet
  bool headed_ = false, chunked_ = false, empty_ = false;
  std::optional<std::size_t> length_;
  HttpAnswer answer_;
};

// One question: a chain of steps that each block, under one deadline.
class Exchange {
 public:
  Exchange(const HttpLimits& limits, HttpClock::time_point end) : limits_(limits), end_(end) {}

  void connect(const sockaddr* address, socklen_t size) {
    socket_.reset(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_) refuse(errno);
    while (::connect(socket_.get(), address, size) != 0) {
      if (errno == EINPROGRESS) return finish_connecting();
      if (errno != EAGAIN && errno != EINTR) refuse(errno);
      pause();  // EAGAIN of a Unix socket: its queue is full
    }
  }

  // A server that refuses a long body answers before it has read all of it: the answer matters, not that.
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (wait(POLLIN | POLLOUT, Kind::late_request) & POLLIN) return;
      const auto now = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (now < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (now < 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(now));
    }
  }

  HttpAnswer receive() {
    AnswerReader reader(limits_.most_bytes);
    std::array<char, 16 * 1024> buffer;
    for (;;) {
      wait(POLLIN, Kind::late_answer);
      const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got < 0) throw HttpTrouble(Kind::not_http, "receiving", errno);
      if (got == 0) return reader.finished(false);
      if (reader.take({buffer.data(), static_cast<std::size_t>(got)})) return reader.finished(true);
    }
  }

 private:
  [[noreturn]] static void refuse(int error) {
    throw HttpTrouble(Kind::not_connected, "cannot connect", error);
  }

  void finish_connecting() {
    wait(POLLOUT, Kind::late_connection);
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) refuse(error);
  }

  int left(Kind late) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - HttpClock::now()).count();
    if (left <= 0) throw HttpTrouble(late, "no answer in time");
    return static_cast<int>(std::min<long long>(left, 1'000'000));
  }

  void pause() const {
    pollfd cancelled{limits_.cancel_fd, POLLIN, 0};
    if (poll(&cancelled, 1, std::min(5, left(Kind::late_connection))) > 0) call_off();
  }

  [[noreturn]] static void call_off() { throw HttpTrouble(Kind::cancelled, "called off"); }

  short wait(short events, Kind late) const {
    for (;;) {
      std::array<pollfd, 2> polled{{{socket_.get(), events, 0}, {limits_.cancel_fd, POLLIN, 0}}};
      const int ready = poll(polled.data(), polled.size(), left(late));
      if (ready < 0 && errno != EINTR) throw HttpTrouble(Kind::not_http, "waiting", errno);
      if (ready > 0 && polled[1].revents != 0) call_off();
      if (ready > 0 && polled[0].revents != 0) return polled[0].revents;
    }
  }

  const HttpLimits& limits_;
  const HttpClock::time_point end_;
  Descriptor socket_;
};

HttpAnswer asked(const sockaddr* address, socklen_t size, const HttpRequest& request,
                 const HttpLimits& limits, HttpClock::time_point end) {
  Exchange exchange(limits, end);
  exchange.connect(address, size);
  exchange.send(written(request));
  return exchange.receive();
}

// Of all addresses the host has, the first one that can be connected to.
HttpAnswer asked(const HttpUrl& url, const HttpLimits& limits) {
  const auto end = end_of(limits.at_most);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found); error != 0)
    throw SystemError(std::string("cannot find the host: ") + gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  const bool six = url.host.find(':') != std::string::npos;
  HttpRequest request;
  request.target = url.path;
  request.host = (six ? "[" + url.host + "]" : url.host) + ":" + url.port;
  request.version = 10;
  for (const addrinfo* address = found;; address = address->ai_next) try {
      return asked(address->ai_addr, address->ai_addrlen, request, limits, end);
    } catch (const HttpTrouble& trouble) {
      if (trouble.kind != Kind::not_connected || !address->ai_next) throw;
    }
}

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

HttpAnswer http_ask(const sockaddr* address, socklen_t size, const HttpRequest& request,
                    const HttpLimits& limits) {
  return asked(address, size, request, limits, end_of(limits.at_most));
}

std::string http_get(const HttpUrl& url, const HttpLimits& limits) {
  const std::string where = "http://" + url.host + ":" + url.port + url.path + ": ";
  HttpAnswer answer;
  try {
    answer = asked(url, limits);
  } catch (const SystemError& error) {
    throw SystemError(where + error.what());
  }
  if (answer.status != 200)
    throw SystemError(where + "answered " + std::to_string(answer.status) + " " +
                      printable(answer.reason, 80));
  return std::move(answer.body);
}

}  // namespace tandem::platform
