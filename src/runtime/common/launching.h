// What a program is started with, whoever starts it: its command, its environment (docs/protocol.md), and
// what the processes of a gang are told of each other. Reads this process' environment; no other state.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/credentials.h"
#include "runtime/common/conversation.h"
#include "spec/job.h"

namespace tandem::runtime {

// A built-in model is run by `trainer`.
std::vector<std::string> command_of(const spec::Program&, const std::string& trainer);

// How a server's programs are kept apart from it and from each other (docs/security.md). As it stands: not at
// all, they are the programs of whoever runs Tandem.
struct Separation {
  bool as_owners = false;            // those of another user's job run as that user; root alone can do it
  bool without_secrets = false;      // the others' environment is ours without secrets
  std::vector<std::string> pass{};   // but for these
  std::filesystem::path sandbox{};   // the store, of which they see their own folder alone; empty: no sandbox
  std::filesystem::path programs{};  // where Tandem's own are, which a sandbox must not hide
  std::optional<mode_t> umask{};     // of programs; none: ours
};

// What a program's environment begins with, as NAME=VALUE; none: ours.
std::optional<std::vector<std::string>> base_environment(const Separation&,
                                                         const std::optional<platform::Credentials>& as);
// Is the variable set in it?
bool is_set(const std::optional<std::vector<std::string>>& base, const std::string& name);

// What is added to `base`.
std::map<std::string, std::string> environment_for(const Conversation&,
                                                   const std::optional<std::vector<std::string>>& base = {});

// What each process of a gang is told beside it, in our names and in those torchrun uses.
std::map<std::string, std::string> gang_environment(std::size_t rank, std::size_t size,
                                                    const std::string& master, int port);
// Where a gang's processes can meet: free now, who takes it first has it. On any address where none is given.
int free_port(const char* address = nullptr);

}  // namespace tandem::runtime
