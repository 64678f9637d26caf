// How commands speak with a server (cli/serve.cpp): which one, and what it answered.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"
#include "server/http/http_client.h"

namespace tandem::cli {

struct ServerOption {
  StoreOption store;
  std::string name = "main", address, token;
  void add_to(CLI::App&);
};

class ServerClient {
 public:
  // UserError when no such server is running.
  explicit ServerClient(const ServerOption&);

  // What was refused is a UserError, with the server's words.
  nlohmann::json ask(const std::string& method, const std::string& target, const std::string& body = "");
  std::string text(const std::string& method, const std::string& target, const std::string& body = "");
  // The job; null, and the server's words in `unmet`: it was not queued, as nothing meets its deadline.
  nlohmann::json submit(const std::string& spec, const std::string& folder, const std::string& file,
                        std::string* unmet = nullptr);
  // A job to its end, looking five times a second.
  nlohmann::json wait_for(int job);

 private:
  server::Address address(const ServerOption&) const;

  store::Store store_;
  server::HttpClient http_;
};

std::string job_target(const std::string& job, const char* rest = "");

}  // namespace tandem::cli
