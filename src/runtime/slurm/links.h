// The world's end of its agents' connections: listens, lets in who has the right token, hands over whole
// messages.
//
// One thread; `descriptor` is readable when `look` has something to do. A stranger gets nothing: no line
// before its join is answered, a wrong or used token closes the connection, one that has not joined within
// ten seconds is closed, and no more than 256 such wait at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/descriptor.h"
#include "protocol/message.h"
#include "runtime/slurm/wire.h"

namespace tandem::slurm {

class Links {
 public:
  struct Listener {
    std::function<void(const std::string& mark, const FromAgent&)> heard;  // Join is the first
    std::function<void(const std::string& mark)> left;
  };
  // `address`: "127.0.0.1", or "0.0.0.0" for all of this machine's. Throws SystemError.
  Links(const std::string& address, Listener);
  Links(const Links&) = delete;

  int port() const { return port_; }
  int descriptor() const { return epoll_.get(); }
  void look();

  // From now on an agent with this mark and the token that is returned may join, once.
  std::string expect(const std::string& mark);
  // It may not any more, and is cut off if it has.
  void forget(const std::string& mark);
  // False when it is not there, or cannot be reached.
  bool send(const std::string& mark, const ToAgent&);

 private:
  struct Link {
    platform::Descriptor socket;
    protocol::LineReader lines;
    std::string mark;  // empty before it joined
    double accepted = 0;
  };
  void accept_all();
  void read(std::uint64_t key);
  bool take(std::uint64_t key, const std::string& line);
  void close(std::uint64_t key);

  Listener listener_;
  platform::Descriptor epoll_, listening_;
  int port_ = 0;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Link> links_;
  std::map<std::string, std::string> tokens_;    // by mark, not used yet
  std::map<std::string, std::uint64_t> joined_;  // by mark
};

// IPv4 addresses by which other machines may reach this one, loopback left out.
std::vector<std::string> own_addresses();

}  // namespace tandem::slurm
