// How long it takes to a host and back: the time of a TCP handshake, which any user may make.
//
// A refused connection counts: the answer came from there. One object a thread.
#pragma once

#include <sys/socket.h>

#include <string>

#include "base/units.h"

namespace tandem::platform {

class RoundTrip {
 public:
  // Looks the name up once, so that measuring never waits for that. Throws UserError: no such host or port.
  RoundTrip(const std::string& host, const std::string& port);

  // Throws SystemError: no answer in time, or no way there.
  Seconds measure(Seconds at_most = {1}) const;

 private:
  std::string name_;
  sockaddr_storage address_{};
  socklen_t length_ = 0;
};

}  // namespace tandem::platform
