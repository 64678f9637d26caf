// For tests: a server with a few routes, its log and metrics at hand, and a client that sends raw bytes.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/temporary.h"
#include "server/http/http_client.h"
#include "server/http/http_server.h"

namespace tandem::server {

using TestClock = std::chrono::steady_clock;
inline constexpr double kPatience = 30;  // seconds; nothing here takes more than a few

inline double seconds_since(TestClock::time_point then) {
  return std::chrono::duration<double>(TestClock::now() - then).count();
}

// True as soon as `holds`; false after all patience.
template <class Condition>
bool soon(Condition holds) {
  for (const auto begin = TestClock::now(); seconds_since(begin) < kPatience;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return holds();
}

// Bytes out, bytes in; no idea of HTTP.
class RawClient {
 public:
  explicit RawClient(const Address& address) {
    const auto where = socket_address(address);
    socket_.reset(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket_) throw_errno("making a test's socket");
    while (::connect(socket_.get(), where.get(), where.size) != 0) {
      if (errno != EAGAIN) throw_errno("connecting to " + text(address));  // EAGAIN: a full queue
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // False: the server has gone, or takes no more within `patience` seconds.
  bool send(std::string_view bytes, double patience = kPatience) {
    while (!bytes.empty()) {
      if (!ready(POLLOUT, patience)) return false;
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EAGAIN) continue;
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end_sending() { ::shutdown(socket_.get(), SHUT_WR); }

  // All until the server closes; what came until then when patience ends.
  std::string read_to_end(double patience = kPatience) {
    std::string out;
    while (read_more(out, patience)) continue;
    return out;
  }
  // Until `wanted` has come.
  std::string read_until(const std::string& wanted) {
    std::string out;
    while (out.find(wanted) == std::string::npos && read_more(out, kPatience)) continue;
    return out;
  }
  bool still_open() {
    char byte;
    const auto got = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && errno == EAGAIN);
  }
  int descriptor() const { return socket_.get(); }

 private:
  bool ready(short events, double patience) {
    pollfd polled{socket_.get(), events, 0};
    return ::poll(&polled, 1, static_cast<int>(patience * 1000)) > 0;
  }
  bool read_more(std::string& out, double patience) {
    char buffer[16384];
    if (!ready(POLLIN, patience)) return false;
    const auto got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (got > 0) out.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }

  platform::Descriptor socket_;
};

// The status of an answer's first line; 0: there is none.
inline int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.") && answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
}

// Another limit on open files for as long as it lives. (Both ends of every connection of a test are in this
// process.)
class OpenFiles {
 public:
  explicit OpenFiles(rlim_t most) {
    if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) throw_errno("asking how many files may be open");
    const rlimit now{most, before_.rlim_max};
    allowed_ = most <= before_.rlim_max && ::setrlimit(RLIMIT_NOFILE, &now) == 0;
  }
  OpenFiles(const OpenFiles&) = delete;
  ~OpenFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  bool allowed() const { return allowed_; }

 private:
  rlimit before_{};
  bool allowed_ = false;
};

// Keeps what is logged.
class TestLog {
 public:
  Log::Sink sink() {
    return [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      text_ += line;
    };
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

class Rig {
 public:
  explicit Rig(Limits limits = {}, std::function<void(ServerOptions&, Router&)> change = {}) {
    ServerOptions options;
    options.tcp = Address{};
    options.socket = folder.path() / "server.sock";
    options.limits = limits;
    Router routes = router();
    if (change) change(options, routes);
    server = std::make_unique<HttpServer>(std::move(options), std::move(routes), token, log, metrics);
  }

  Address tcp() const { return server->addresses().front(); }
  Address socket() const { return server->addresses().back(); }
  RawClient raw() const { return RawClient(tcp()); }
  std::string post(const std::string& headers_and_body) const {
    return "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token.reveal() + "\r\n" +
           headers_and_body;
  }
  bool answers() const { return HttpClient(tcp()).get("/v1/ping").status == 200; }
  double connected() { return metrics.gauge("tandem_http_connections", "Clients connected").value(); }
  double cut(const std::string& why) {
    return metrics
        .counter("tandem_http_connections_cut_total", "Connections closed on their client", {{"why", why}})
        .value();
  }

  platform::TemporaryFolder folder{"tandem-server-test"};
  TestLog lines;
  Log log{lines.sink(), {Level::debug, 1'000'000, {}}};
  Metrics metrics;
  Token token = Token::make();
  std::atomic<int> changes{0};  // how often a handler that changes something ran
  std::unique_ptr<HttpServer> server;

 private:
  Router router() {
    Router routes;
    routes.add("GET", "/v1/ping", Need::nothing,
               [](const Request&) { return json_response({{"pong", true}}); });
    routes.add("POST", "/v1/echo", Need::change, [this](const Request& request) {
      ++changes;
      return Response{201, request.body, "text/plain"};
    });
    routes.add("GET", "/v1/jobs/{job}", Need::nothing, [](const Request& request) {
      return json_response({{"job", request.parameters.at("job")}, {"query", request.query}});
    });
    routes.add("GET", "/v1/long", Need::nothing, [](const Request&) {
      return Response{200, std::string(32 << 20, 'x'), "text/plain"};
    });
    routes.add("GET", "/v1/broken", Need::nothing,
               [](const Request&) -> Response { throw std::runtime_error("inner trouble"); });
    routes.add("GET", "/metrics", Need::nothing, [this](const Request&) {
      return Response{200, metrics.text(), Metrics::kContentType};
    });
    return routes;
  }
};

}  // namespace tandem::server
