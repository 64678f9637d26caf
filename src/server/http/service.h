// The server without its sockets: judges the head of a request before its body is read, runs the handler, and
// keeps books (log and metrics).
//
// Whoever may not ask is told so before a byte of the body is taken. What a handler throws becomes an answer.
// admit() and record() are called by the server's thread, handle() by the threads that handlers run on.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/http/audit.h"
#include "server/http/limits.h"
#include "server/http/log.h"
#include "server/http/metrics.h"
#include "server/http/router.h"
#include "server/http/tokens.h"

namespace tandem::server {

// What a request says before its body.
struct Head {
  std::string method, target;
  int version = 11;                        // HTTP/1.1
  std::size_t lines = 0;                   // of headers
  std::vector<std::string> host;           // each Host header
  std::vector<std::string> authorization;  // each Authorization header
  std::vector<std::string> key;            // each Idempotency-Key header
  std::string transfer_encoding, content_type;
  bool has_body = false;
  Caller caller;
};

struct Admitted {
  const Route* route = nullptr;
  Request request;  // its body is still to come
};

// One question and its answer, for the books.
struct Exchange {
  std::string method, path;
  const Route* route = nullptr;  // null: it did not get that far
  int status = 0;
  double seconds = 0;
  Caller caller;
  std::string why;     // it was refused
  std::string made{};  // where what a change made is found
  Identity who{};
};

class Service {
 public:
  struct Options {
    Limits limits;
    std::vector<std::string> host_names;  // names of this machine a Host header may give, in lower case
    SocketRights rights;
    Audit* audit = nullptr;  // null: nobody wants to know; outlives it
  };

  // `log` and `metrics` must outlive it; the operators' token is hidden from the log.
  Service(Router, Tokens, Options, Log&, Metrics&);

  // `who`: who it is from, as far as that became known.
  std::variant<Admitted, Response> admit(const Head&, Identity* who = nullptr);
  // The route's preparation, if it has one; a response: it came to nothing, and this is why.
  std::optional<Response> prepare(Admitted&);
  Response handle(const Admitted&);
  void record(const Exchange&);

  Log& log() { return log_; }
  Metrics& metrics() { return metrics_; }

 private:
  template <class Answer>
  Response guarded(const Admitted&, const char* failed, const Answer&);
  Admitted judge(const Head&, Identity& who) const;
  void audit(const Exchange&) const;
  void check_shape(const Head&) const;
  ShownToken shown_token(const Head&) const;

  const Router router_;
  const Tokens tokens_;
  const Options options_;
  Log& log_;
  Metrics& metrics_;
};

}  // namespace tandem::server
