// How much one client, and all clients together, may take of the server. What goes over is refused with the
// status named here, or cut off; the others do not notice.
#pragma once

#include <cstddef>

#include "base/units.h"

namespace tandem::server {

struct Limits {
  // Of one request.
  std::size_t target = 2048;       // bytes of its path and query; 414
  std::size_t head = 16 * 1024;    // bytes of its first line and headers together; 431
  std::size_t headers = 64;        // lines of headers; 431
  std::size_t body = 1024 * 1024;  // bytes; 413
  std::size_t nesting = 64;        // arrays and objects inside each other in a JSON body; 400

  bool budgets = true;             // of one client's questions to readers (budget.h); 429

  // Of all together.
  std::size_t bodies = 32 * 1024 * 1024;  // bytes of bodies held at once; 503
  // Beyond these, whoever has been waited for longest makes room.
  std::size_t answers = 256 * 1024 * 1024;  // bytes of answers not taken yet; a longer one is sent alone
  std::size_t connections = 2048;           // 503 when nobody can make room

  // Whole times, not pauses: a client that sends a byte now and then gains nothing.
  Seconds head_time{10};     // to send a first line and headers; also how long a silent connection is kept
  Seconds body_time{30};     // to send a body
  Seconds handler_time{30};  // for the owner's thread to answer; 503
  Seconds answer_time{30};   // to take the answer
  Seconds budget_time{0.5};  // who is over its budget is answered so late, at most: a loop gains nothing
  Seconds linger_time{2};    // a refused client may still read why
  Seconds stop_time{5};      // requests under way may still end when the server is stopped
};

}  // namespace tandem::server
