// Which handler answers which request: a method and a pattern of a path, like "/v1/jobs/{job}".
//
// A {name} stands for one part of the path and holds a plain name: 1 to 128 letters, digits and . _ -, not
// beginning with a dot or a dash. So no handler is ever given shell syntax, an option or a path for a name.
// Filled before the server starts, then only read: thread-safe from there on.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "server/http/access.h"
#include "server/http/http_message.h"
#include "server/http/target.h"

namespace tandem::server {

using Handler = std::function<Response(const Request&)>;
// What takes long of answering a request and needs nothing of the owner's: done before the handler is asked,
// beside the owner where the server has readers. What it throws is the answer.
using Preparation = std::function<nlohmann::json(const Request&)>;

struct Route {
  std::string method, pattern;
  Need need = Need::change;
  Handler handler;
  Preparation prepare{};  // none: there is nothing to prepare
};

struct Match {
  const Route* route = nullptr;
  std::map<std::string, std::string> parameters;
};

class Router {
 public:
  // Two routes for the same method and the same paths, or a pattern that is none, are bugs.
  void add(std::string method, std::string pattern, Need need, Handler handler, Preparation = {});

  // Throws Refusal: 404 (no such path), 405 (another method; its message names them) or 400 (no plain name).
  Match find(const std::string& method, const Target&) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> parts;
  };
  std::vector<Entry> entries_;
};

bool plain_name(std::string_view);

}  // namespace tandem::server
