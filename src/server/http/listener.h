// A socket that accepts connections, opened so that two servers never share one.
//
// A Unix socket is made beside its place with its final mode and moved there whole, so no client ever finds
// it half made. While it is served a lock is held (FILE.lock): a socket file without a living server is
// replaced, one with a living server is refused. Closing removes the file, unless somebody replaced it.
// One thread.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "platform/descriptor.h"
#include "platform/machine_lock.h"
#include "server/http/address.h"

namespace tandem::server {

class Listener {
 public:
  // `mode` is a Unix socket's: who may connect. Throws UserError: port or socket in use, no permission, a
  // folder where others could replace the socket, something else than a socket in its place.
  static Listener open(const Address&, mode_t mode = 0600);
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int descriptor() const { return descriptor_.get(); }  // non-blocking
  const Address& address() const { return address_; }   // with the port that was found free
  void close();                                         // no more connections

 private:
  Listener() = default;
  void open_unix(mode_t mode);
  void open_ip();

  Address address_;
  platform::Descriptor descriptor_;
  std::optional<platform::MachineLock> lock_;
  struct Identity {
    dev_t device;
    ino_t inode;
  };
  std::optional<Identity> file_;  // the socket we made
};

}  // namespace tandem::server
