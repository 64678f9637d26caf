// A program's end of the socket: what the built-in trainer and `tandem tell` use.
//
// Blocking, one thread. Outside Tandem (no TANDEM_SOCKET in the environment) `connect` returns nullopt and a
// program goes on alone. When Tandem is gone, every call throws Gone: a program that loses its socket ends by
// itself. The descriptor is not closed: it lives as long as the program. A wrong TANDEM_SOCKET is a
// UserError, an answer that does not fit the question a ProtocolError.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "protocol/message.h"

namespace tandem::protocol {

struct Gone : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Client {
 public:
  // From TANDEM_SOCKET; programs this one starts do not inherit the socket.
  static std::optional<Client> connect();
  explicit Client(int descriptor) : descriptor_(descriptor) {}

  Begin hello(const Hello&);
  void ready();
  void progress(double share);  // of the epoch that is done
  // Reports an epoch and waits until it is durable.
  Answer report(Epoch);
  void checkpointed(std::int64_t epoch);

 private:
  void send(const FromProgram&);
  FromTandem receive();

  int descriptor_;
  LineReader reader_;
  std::optional<std::chrono::steady_clock::time_point> ready_at_;  // until the next report
};

}  // namespace tandem::protocol
