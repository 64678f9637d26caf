// What a program is started with, whoever starts it: its command, its environment (docs/protocol.md), and
// what the processes of a gang are told of each other. Reads this process' environment; no other state.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/common/conversation.h"
#include "spec/job.h"

namespace tandem::runtime {

// A built-in model is run by `trainer`.
std::vector<std::string> command_of(const spec::Program&, const std::string& trainer);

std::map<std::string, std::string> environment_for(const Conversation&);

// What each process of a gang is told beside it, in our names and in those torchrun uses.
std::map<std::string, std::string> gang_environment(std::size_t rank, std::size_t size,
                                                    const std::string& master, int port);
// Where a gang's processes can meet: free now, who takes it first has it. On any address where none is given.
int free_port(const char* address = nullptr);

}  // namespace tandem::runtime
