#include "server/http/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kMostHead = 64 * 1024;

// One question on its own connection: a chain of steps that each block, under one deadline.
class Exchange {
 public:
  Exchange(const Address& address, const ClientLimits& limits)
      : address_(address), limits_(limits), stream_(io_) {
    stream_.expires_after(std::chrono::nanoseconds(static_cast<std::int64_t>(limits.at_most.value * 1e9)));
  }

  void connect() {
    auto where = socket_address(address_);
    const asio::generic::stream_protocol::endpoint endpoint(where.get(), where.size);
    check_connected(step([&](auto done) { stream_.async_connect(endpoint, done); }));
  }

  // A server that refuses a long body answers before it has read all of it: the answer matters, not that.
  void send(const http::request<http::string_body>& request) {
    http::request_serializer<http::string_body> serializer(request);
    const auto error = step([&](auto done) {
      http::async_write(stream_, serializer, [done](error_code result, std::size_t) { done(result); });
    });
    if (error == beast::error::timeout) fail("did not take the request in time");
  }

  Answer receive() {
    http::response_parser<http::string_body> parser;
    parser.body_limit(limits_.most_bytes);
    parser.header_limit(kMostHead);
    // In two steps: read in one, Beast 1.74 forgets the limit of a body that comes along with its head.
    check_received(step([&](auto done) {
      http::async_read_header(stream_, buffer_, parser,
                              [done](error_code result, std::size_t) { done(result); });
    }));
    check_received(step([&](auto done) {
      http::async_read(stream_, buffer_, parser, [done](error_code result, std::size_t) { done(result); });
    }));
    auto& response = parser.get();
    return {static_cast<int>(response.result_int()), std::string(response[http::field::content_type]),
            std::move(response.body())};
  }

 private:
  template <class Start>
  error_code step(Start start) {
    error_code result = asio::error::operation_aborted;
    start([&result](error_code error) { result = error; });
    io_.restart();
    io_.run();
    return result;
  }

  void check_connected(error_code error) const {
    if (!error) return;
    if (error == beast::error::timeout) fail("did not let us connect within " + text(limits_.at_most));
    if (error == asio::error::connection_refused || error == asio::error::not_found ||
        error.value() == ENOENT)
      throw UserError("no tandem server listens at " + text(address_) + "; start one with: tandem serve");
    if (error == asio::error::access_denied || error.value() == EPERM)
      throw UserError("you may not connect to the server's socket " + text(address_) +
                      "; ask the user who runs it");
    fail("cannot be connected to: " + error.message());
  }

  void check_received(error_code error) const {
    if (error == beast::error::timeout) fail("gave no answer within " + text(limits_.at_most));
    if (error == http::error::body_limit)
      fail(fmt::format("answered with more than {} bytes", limits_.most_bytes));
    if (error) fail("broke off, or did not answer in HTTP (" + error.message() + ")");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw SystemError("the server at " + text(address_) + " " + what);
  }

  const Address& address_;
  const ClientLimits& limits_;
  asio::io_context io_;
  beast::basic_stream<asio::generic::stream_protocol> stream_;
  beast::flat_buffer buffer_{kMostHead};
};

}  // namespace

HttpClient::HttpClient(Address address, ClientLimits limits) : address_(std::move(address)), limits_(limits) {
  if (!address_.is_unix() && !socket_address(address_).is_loopback())
    throw UserError(text(address_) +
                    " is another machine, and the token would go there in the clear; "
                    "forward its port with: ssh -L");
}

Answer HttpClient::ask(const std::string& method, const std::string& target, const std::string& body,
                       const std::string& content_type) {
  const auto breaks_the_line = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  if (std::any_of(target.begin(), target.end(), breaks_the_line))
    throw UserError("'" + printable(target, 100) +
                    "' cannot be asked for: it holds a blank or a control character");
  http::request<http::string_body> request;
  request.method_string(method);
  request.target(target);
  request.version(11);
  request.set(http::field::host, address_.is_unix() ? "localhost" : text(address_));
  request.set(http::field::connection, "close");
  if (token_) request.set(http::field::authorization, "Bearer " + token_->reveal());
  if (!body.empty()) request.set(http::field::content_type, content_type);
  request.body() = body;
  request.prepare_payload();
  Exchange exchange(address_, limits_);
  exchange.connect();
  exchange.send(request);
  return exchange.receive();
}

std::string error_text(const Answer& answer) {
  const auto parsed = nlohmann::json::parse(answer.body, nullptr, false);
  if (parsed.is_object() && parsed.contains("error") && parsed["error"].is_string())
    return printable(parsed["error"].get<std::string>());
  return printable(answer.body);
}

std::string percent_encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace tandem::server
