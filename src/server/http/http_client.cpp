#include "server/http/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/http_client.h"

namespace tandem::server {
namespace {

using TroubleKind = platform::HttpTrouble::Kind;

// Why there is no answer, in a person's words.
[[noreturn]] void explain_trouble(const platform::HttpTrouble& trouble, const Address& address,
                                  const ClientLimits& limits) {
  const auto fail = [&](const std::string& what) {
    throw SystemError("the server at " + text(address) + " " + what);
  };
  const int error = trouble.error_number;
  switch (trouble.kind) {
    case TroubleKind::not_connected:
      if (error == ECONNREFUSED || error == ENOENT)
        throw UserError("no tandem server listens at " + text(address) + "; start one with: tandem serve");
      if (error == EACCES || error == EPERM)
        throw UserError("you may not connect to the server's socket " + text(address) +
                        "; ask the user who runs it");
      fail(std::string("cannot be connected to: ") + trouble.what());
      break;
    case TroubleKind::late_connection:
      fail("did not let us connect within " + text(limits.at_most));
      break;
    case TroubleKind::late_request:
      fail("did not take the request in time");
      break;
    case TroubleKind::late_answer:
      fail("gave no answer within " + text(limits.at_most));
      break;
    case TroubleKind::too_long:
      fail(fmt::format("answered with more than {} bytes", limits.most_bytes));
      break;
    case TroubleKind::not_http:
    case TroubleKind::cancelled:
      break;
  }
  throw SystemError("the server at " + text(address) + " broke off, or did not answer in HTTP (" +
                    trouble.what() + ")");
}

}  // namespace

HttpClient::HttpClient(Address address, ClientLimits limits) : address_(std::move(address)), limits_(limits) {
  if (!address_.is_unix() && !socket_address(address_).is_loopback())
    throw UserError(text(address_) +
                    " is another machine, and the token would go there in the clear; "
                    "forward its port with: ssh -L");
}

Answer HttpClient::ask(const std::string& method, const std::string& target, const std::string& body,
                       const std::string& content_type, const std::string& key) {
  const auto breaks_the_line = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  if (std::any_of(target.begin(), target.end(), breaks_the_line))
    throw UserError("'" + printable(target, 100) +
                    "' cannot be asked for: it holds a blank or a control character");
  platform::HttpRequest request{.method = method, .target = target, .body = body};
  request.host = address_.is_unix() ? "localhost" : text(address_);
  if (token_) request.authorization = "Bearer " + token_->reveal();
  request.content_type = content_type;
  request.idempotency_key = key;
  const auto where = socket_address(address_);
  try {
    auto answer = platform::http_ask(where.get(), where.size, request, {limits_.at_most, limits_.most_bytes});
    return {answer.status, std::move(answer.content_type), std::move(answer.body)};
  } catch (const platform::HttpTrouble& trouble) {
    explain_trouble(trouble, address_, limits_);
  }
}

Answer HttpClient::post_once(const std::string& target, const std::string& body) {
  const std::string key = Token::make().reveal().substr(0, 32);
  std::string lost;  // why the last answer is not known
  for (int left = 2;; --left) {
    try {
      const auto answer = ask("POST", target, body, "application/json", key);
      if (answer.status < 500 || left == 0) return answer;
    } catch (const SystemError& why) {
      lost = why.what();
    } catch (const UserError&) {  // nobody listens: where it broke off before, it may be on its way back
      if (lost.empty()) throw;
    }
    if (left == 0) throw SystemError(lost + "; it may have taken effect: look before you try again");
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

std::string error_text(const Answer& answer) {
  const auto parsed = parse_json(answer.body);
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
