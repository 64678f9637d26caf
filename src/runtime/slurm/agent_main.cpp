// tandem-slurm-agent TICKET: what the Slurm world runs on a node (agent.h). People do not start it
// themselves.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>

#include "runtime/slurm/agent.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tandem-slurm-agent TICKET (Tandem starts it; see docs/slurm.md)\n");
    return 2;
  }
  try {
    std::ifstream in(argv[1]);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return tandem::slurm::run_agent(tandem::slurm::parse_ticket(text));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tandem-slurm-agent: %s: %s\n", argv[1], e.what());
    return 1;
  }
}
