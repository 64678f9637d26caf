// What a handler is given and gives back: plain values.
//
// A handler sees no headers but these: the token cannot reach a log through it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace tandem::server {

// Who asks, as the operating system knows it.
struct Caller {
  bool unix_socket = false;        // else TCP
  bool loopback = true;            // from this machine
  std::optional<unsigned> user{};  // who connected to the Unix socket
  std::string from{};              // address over TCP
};

// Each may do what those before it may: see that there are jobs, queue and cancel one's own, do anything.
enum class Role { none, view, submit, operate };

// Who asks, as the server knows them (access.h).
struct Identity {
  Role role = Role::none;
  std::optional<unsigned> user{};  // whose jobs are theirs; none: nobody's
  std::string name{};              // "user 1001", "token prometheus"
};

struct Request {
  std::string method;                             // "GET", "POST", "PUT", "DELETE"
  std::string path;                               // decoded
  std::map<std::string, std::string> parameters;  // what the pattern's {names} stand for
  std::map<std::string, std::string> query;       // decoded
  std::string content_type;
  std::string key;  // what its client knows it by when it is repeated (Idempotency-Key); empty: none
  std::string body;
  Caller caller;
  Identity who;
  nlohmann::json prepared;  // what the route's preparation found out; null: it has none
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;  // further ones
  std::string why;                             // of a refusal, for the log
};

// Thrown by a handler that will not do what it is asked. (A UserError becomes a 400, anything else a 500.)
struct Refusal : std::runtime_error {
  Refusal(int status_code, const std::string& why, std::map<std::string, std::string> further = {})
      : std::runtime_error(why), status(status_code), headers(std::move(further)) {}
  int status;
  std::map<std::string, std::string> headers;
};

Response json_response(const nlohmann::json&, int status = 200);
Response error_response(int status, const std::string& message);  // {"error": message}
Response error_response(const Refusal&);

}  // namespace tandem::server
