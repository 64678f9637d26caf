// A program's end of the socket: what the built-in trainer and `tandem tell` use.
//
// Blocking, one thread. Outside Tandem (no TANDEM_SOCKET in the environment) `connect` returns nullopt and a program
// goes on alone. When Tandem is gone, every call throws Gone: a program that loses its socket ends by itself.
#pragma once

#include <optional>

#include "protocol/message.h"

namespace tandem::protocol {

struct Gone : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Client {
 public:
  static std::optional<Client> connect();        // from TANDEM_SOCKET
  explicit Client(int descriptor) : descriptor_(descriptor) {}

  Begin hello(const Hello&);
  // Reports an epoch and waits until it is durable.
  Answer report(const Epoch&);
  void checkpointed(std::int64_t epoch);

 private:
  void send(const FromProgram&);
  FromTandem receive();

  int descriptor_;
  LineReader reader_;
};

}  // namespace tandem::protocol
