// Asks a server something: what the command line uses. Over its Unix socket, or over TCP to this machine (the
// token would travel in the clear to any other). Knows addresses and tokens; HTTP itself is
// platform/http_client.h's.
//
// Blocking, one connection a question, at most `at_most` for all of it and `most_bytes` of answer. One thread
// at a time.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "server/http/address.h"
#include "server/http/token.h"

namespace tandem::server {

struct ClientLimits {
  Seconds at_most{30};
  std::size_t most_bytes = 64 * 1024 * 1024;
};

struct Answer {
  int status = 0;
  std::string content_type, body;
};

class HttpClient {
 public:
  // Throws UserError when the address is neither a socket nor on this machine.
  explicit HttpClient(Address, ClientLimits = {});
  void show_token(Token token) { token_ = std::move(token); }

  // Whatever the server answers, refusals too. Throws UserError when nobody listens or one may not connect,
  // SystemError when the answer does not come in time, is too long, or is no HTTP.
  Answer get(const std::string& target) { return ask("GET", target); }
  Answer ask(const std::string& method, const std::string& target, const std::string& body = "",
             const std::string& content_type = "application/json", const std::string& key = "");
  // A POST that is made once even when it is repeated, as it is here: twice, a second apart, after an answer
  // that does not say what became of it (5xx), or none.
  Answer post_once(const std::string& target, const std::string& body);

 private:
  Address address_;
  ClientLimits limits_;
  std::optional<Token> token_;
};

// "why" of {"error": "why"}, or the body itself, made fit to print.
std::string error_text(const Answer&);

// `text` as one part of a target: "a/b c" -> "a%2Fb%20c".
std::string percent_encoded(const std::string& text);

}  // namespace tandem::server
