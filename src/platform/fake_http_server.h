// For tests: a server on the loopback that answers each connection with the bytes it is told, in a thread of
// its own.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/error.h"

namespace tandem::platform {

class FakeHttpServer {
 public:
  enum class After { close, hold };  // hold: keep the connection open and silent until the client leaves

  explicit FakeHttpServer(std::string answer, After after = After::close)
      : answer_(std::move(answer)), after_(after) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (socket_ < 0 || bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(socket_, 8) != 0)
      throw_errno("opening a test server");
    socklen_t size = sizeof address;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeHttpServer() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  FakeHttpServer(const FakeHttpServer&) = delete;
  FakeHttpServer& operator=(const FakeHttpServer&) = delete;

  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  void answer(std::string text) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(text);
  }
  // From the second request on.
  void answer_later(std::string text) {
    const std::lock_guard lock(mutex_);
    later_ = std::move(text);
  }
  void wait_for_requests(int count) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return requests_ >= count; });
  }
  int requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::string last_request() {
    const std::lock_guard lock(mutex_);
    return last_request_;
  }
  static std::string ok(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

 private:
  void serve() {
    for (;;) {
      const int client = accept(socket_, nullptr, nullptr);
      if (client < 0) return;
      std::string request;
      char buffer[1024];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const auto got = recv(client, buffer, sizeof buffer, 0);
        if (got <= 0) break;
        request.append(buffer, static_cast<std::size_t>(got));
      }
      std::string text;
      {
        const std::lock_guard lock(mutex_);
        last_request_ = request;
        text = answer_;
        if (!later_.empty()) answer_ = later_;
        ++requests_;
        arrived_.notify_all();
      }
      for (std::size_t sent = 0; sent < text.size();) {
        const auto now = send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (now <= 0) break;
        sent += static_cast<std::size_t>(now);
      }
      if (after_ == After::hold)
        while (recv(client, buffer, sizeof buffer, 0) > 0) continue;
      ::close(client);
    }
  }

  int socket_ = -1, port_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::string answer_, later_, last_request_;
  After after_;
  int requests_ = 0;
  std::thread thread_;
};

}  // namespace tandem::platform
