// What the agents of a program and of a pilot have in common: the connection to the world, the signals that
// Slurm ends a job with, and the claim on a ticket.
#pragma once

#include <vector>

#include "platform/descriptor.h"
#include "protocol/message.h"
#include "runtime/slurm/wire.h"

namespace tandem::slurm {

// The agent's end of the connection; once lost, it stays so.
class AgentLink {
 public:
  AgentLink() = default;
  explicit AgentLink(const Ticket&);  // tries for half a minute; see operator bool
  explicit operator bool() const { return bool(socket_); }
  int descriptor() const { return socket_.get(); }
  void send(const FromAgent&);
  std::vector<ToAgent> receive();  // what has arrived; does not wait
  void close() { socket_.reset(); }

 private:
  platform::Descriptor socket_;
  protocol::LineReader lines_;
};

// SIGTERM, SIGINT and SIGHUP arrive here instead of ending this process.
platform::Descriptor catch_signals();

Seconds wall_clock();
// With what Slurm's environment says.
ExitRecord new_record(const Ticket&);
// False, and said on standard error: the ticket was used before.
bool claim(const Ticket&);

}  // namespace tandem::slurm
