// One question over plain HTTP, on a connection of its own: what power meters and servers are asked with.
//
// Blocks at most `at_most` for all of it (looking a name up may take the system's own time on top), reads at
// most `most_bytes` of a body, and can be called off from another thread through a descriptor. No redirects,
// no TLS, no connection that is kept: what is not understood is an error. Thread-safe: nothing is kept.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace tandem::platform {

struct HttpUrl {
  std::string host, port = "80", path = "/";
};

// Throws UserError that says what is wrong with the address.
HttpUrl parse_http_url(const std::string&);

struct HttpLimits {
  Seconds at_most{2};
  std::size_t most_bytes = 64 * 1024;
  int cancel_fd = -1;  // becoming readable ends the call; -1: none
};

struct HttpRequest {
  std::string method = "GET", target = "/", host = "localhost";
  std::string authorization{}, content_type{}, idempotency_key{}, body{};  // empty: not sent
  int version = 11;                                     // HTTP/1.1; 10 for devices that know no better
};

struct HttpAnswer {
  int status = 0;
  std::string reason{}, content_type{}, body{};
};

// Why there is no answer.
struct HttpTrouble : SystemError {
  enum class Kind {
    not_connected,  // error_number says why
    late_connection,
    late_request,
    late_answer,
    too_long,
    not_http,  // or it broke off
    cancelled,
  };
  HttpTrouble(Kind which, const std::string& what_happened, int number = 0)
      : SystemError(what_happened, number), kind(which) {}
  Kind kind;
};

// Whatever is answered, refusals too; throws HttpTrouble.
HttpAnswer http_ask(const sockaddr* address, socklen_t size, const HttpRequest&, const HttpLimits&);

// The body of a 200 answer; anything else throws SystemError.
std::string http_get(const HttpUrl&, const HttpLimits& = {});

}  // namespace tandem::platform
