// One GET over plain HTTP, for power meters on the local network.
//
// Blocks at most `at_most` (looking a name up may take the system's own time on top), reads at most
// `most_bytes`, and can be called off from another thread through a descriptor. No redirects, no TLS, no
// chunked answers: a meter needs none of them, and what is not understood is an error. Thread-safe: nothing
// is kept.
#pragma once

#include <cstddef>
#include <string>

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

// The body of a 200 answer; anything else throws SystemError.
std::string http_get(const HttpUrl&, const HttpLimits& = {});

}  // namespace tandem::platform
