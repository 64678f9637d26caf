// tandem-slurm-agent [--pilot] TICKET: what the Slurm world runs on a node (agent.h). People do not start it
// themselves.
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>

#include "runtime/slurm/agent.h"

int main(int argc, char** argv) {
  const bool pilot = argc == 3 && std::strcmp(argv[1], "--pilot") == 0;
  if (argc != 2 && !pilot) {
    std::fprintf(stderr,
                 "usage: tandem-slurm-agent [--pilot] TICKET (Tandem starts it; see docs/slurm.md)\n");
    return 2;
  }
  const char* file = argv[argc - 1];
  try {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto ticket = tandem::slurm::parse_ticket(text);
    return pilot ? tandem::slurm::run_pilot(ticket) : tandem::slurm::run_agent(ticket);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tandem-slurm-agent: %s: %s\n", file, e.what());
    return 1;
  }
}
