// The HTTP server: a TCP port and a Unix socket, JSON in and out, made for clients that mean no good.
//
// One thread of its own does all reading and writing (Boost.Beast on epoll), so no client can hold up
// another: each has whole times for its head, body and answer (limits.h), and where there are too many, those
// waited for longest make room. Handlers run on one thread, never two at a time, and need no locks, but for
// those of `readers`:
//   - with `wake`, on the owner's thread, inside answer_pending(). `wake` is called on the server's thread
//     when there is something to answer (a World::interrupt, say). Questions are answered in their order.
//     At most 64 a call, so that a crowd cannot keep the owner from its own work: `wake` is called again
//     then. One that is not taken up within limits.handler_time is answered 503 and then never run; one that
//     is being run by then is answered 503 that says so.
//   - with `readers`, those of routes that only read run on as many threads beside, several at a time: they
//     never wait for the owner, and must be safe to run beside it and each other;
//   - without `wake`, on the server's own thread: for handlers that only look something up.
// A handler that throws is an answer (http_message.h). The server never changes the process' limits: with
// too few file descriptors for limits.connections it uses what there are, and logs it.
//
// Constructor, answer_pending(), stop() and destructor belong to the owner's thread; no handler may call
// them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/http/address.h"
#include "server/http/audit.h"
#include "server/http/limits.h"
#include "server/http/log.h"
#include "server/http/metrics.h"
#include "server/http/router.h"
#include "server/http/tokens.h"

namespace tandem::server {

struct ServerOptions {
  std::optional<Address> tcp;           // port 0: any free one
  std::filesystem::path socket;         // empty: none
  unsigned socket_mode = 0600;          // 0666 lets every user of this machine connect
  std::filesystem::path open_socket;    // one more, for every user of this machine; empty: none
  Role others = Role::none;             // what those are who connect to a socket and are not us nor root
  std::vector<std::string> host_names;  // beside localhost, what a browser here may call us
  Limits limits;
  std::function<void()> wake;
  Audit* audit = nullptr;  // outlives it; null: none is kept
  int readers = 0;  // threads for routes that change nothing; 0: they are the owner's, as the others
};

class HttpServer {
 public:
  // Listens when it returns; throws UserError when it cannot (listener.h). `log` and `metrics` outlive it.
  HttpServer(ServerOptions, Router, Tokens, Log&, Metrics&);
  HttpServer(const HttpServer&) = delete;
  ~HttpServer();

  std::vector<Address> addresses() const;  // TCP first, with its port
  // Runs the handlers of the questions that wait (with `wake` only). Returns at once when there are none.
  void answer_pending();
  // No new connections; silent ones are closed; requests under way end, or are cut after limits.stop_time.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::server
