// What commands that ask a server about jobs share: their options, and how such a command is put on the
// table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/server_client.h"

namespace tandem::cli {

struct JobsOptions {
  ServerOption server;
  JsonOption json;
  std::vector<std::string> what;
  std::string state = "open";
  bool all = false, wait = false, offline = false;

  void add_to(CLI::App& command) {
    server.add_to(command);
    json.add_to(command);
  }
};

CLI::App* add_question(CLI::App&, Action&, const std::shared_ptr<JobsOptions>&, const char* name,
                       const char* what, const char* examples, int (*answer)(const JobsOptions&));

}  // namespace tandem::cli
