// How much of the machine each client's questions may take: whoever asks in a loop, or for much, is told to wait
// (429), and neither jobs nor other clients notice.
//
// A client is a user of this machine, a token or an address. It has a share of a core by its role, and what it
// did not use is saved up to a bound. What a question costs is known once it was answered: the processor's time
// of its handler, and its bytes. So a client may go below zero, and asks again when it is above; while it has
// questions under way each counts as its dearest ones lately. Pure: time is handed in. One thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "server/http/http_message.h"

namespace tandem::server {

// As the books know who asked: by token or user, else by where from.
std::string client_of(const Caller&, const Identity&);

class Budget {
 public:
  struct Rate {
    double share = 0;   // of a core
    Seconds saved{};    // of a core, at most
  };
  static Rate rate_of(Role);

  // None: go ahead, and `charge` once it was answered. Else: not before so long from now.
  std::optional<Seconds> refused(const std::string& client, Role, Seconds now);
  void charge(const std::string& client, Seconds processor, std::size_t bytes, Seconds now);
  std::size_t clients() const { return accounts_.size(); }

 private:
  struct Account {
    Rate rate;
    Seconds left, at;  // what may be used, as of then
    Seconds dear{0.02};  // what a question is expected to cost
    int under_way = 0;
  };
  static void refill(Account&, Seconds now);
  void forget_full(Seconds now);

  std::map<std::string, Account> accounts_;
  std::size_t look_at_ = 1024;  // clients, that many of which some may be forgotten
};

}  // namespace tandem::server
