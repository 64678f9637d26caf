// What the world and its agents say to each other over TCP, and the ticket an agent starts with.
//
// Programs speak docs/protocol.md on a socket they inherit, and that stays so on another machine: an agent
// (agent.h) runs beside each program, gives it a Unix socket, and relays its lines. Lines again: `>` and a
// line of the protocol, or `!` and a JSON object of ours. The agent joins with a token of 128 random bits
// that only its ticket holds (a file only its owner can read) and that is good for one submission; without
// it, the connection is closed. Nothing is encrypted: on a network where others can listen, use the site's
// own (IPsec, WireGuard).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/slurm/record.h"

namespace tandem::slurm {

struct Ticket {
  std::string mark, token;
  std::vector<std::string> addresses;  // of the world, best first
  int port = 0;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::filesystem::path output, record, claim;
  Bytes data_limit = 0;  // of each process; 0: none
  int cores = 1;
  Seconds grace{5};    // between asking the program to end and making it
  std::string folder;  // where the program runs; empty: where the job does
  // Of a gang, by rank; empty: the program is alone. All agents of it read the same ticket, and each finds
  // its rank by the name of its node. The mark, token, record and claim above are rank 0's.
  std::vector<std::string> nodes, tokens;
  std::string master;       // the address of rank 0's node
  bool whole_node = false;  // it has its nodes to itself: what Slurm measures of them is its own
  Bytes output_limit = Bytes{256} << 20;
  bool plain = false;  // it says nothing, and gets no socket
  bool operator==(const Ticket&) const = default;
};
std::string text(const Ticket&);
Ticket parse_ticket(const std::string&);  // SystemError for what is no ticket

// The rank of the agent on this node; SystemError when the gang has no process there.
std::size_t rank_on(const Ticket&, const std::string& node);
// The ticket as the agent of this rank uses it: its own mark, token, record and claim.
Ticket of_rank(Ticket, std::size_t rank);
// "tandem:run:3:1:1#2" is rank 2's; rank 0 has the mark of the submission.
std::string mark_of_rank(const std::string& mark, std::size_t rank);
std::pair<std::string, std::size_t> split_rank(const std::string& mark);

// ---- agent to world ----

struct Join {
  std::string mark, token, node;
  std::int64_t job = 0, pid = 0, pid_started = 0;
  std::vector<int> cpus;  // empty: Slurm did not bind it to any
  int port = 0;           // of rank 0 of a gang: where the others find its program
  bool operator==(const Join&) const = default;
};
struct Said {  // by the program
  std::string line;
  bool operator==(const Said&) const = default;
};
struct Broke {  // the program's lines cannot be relayed
  std::string why;
  bool operator==(const Broke&) const = default;
};
struct Exited {
  ExitRecord record;
  bool operator==(const Exited&) const = default;
};
struct StepEnded {  // of a pilot: srun has ended, and with it the agent
  std::string mark;
  int status = 0;
  bool operator==(const StepEnded&) const = default;
};
struct Drew {  // Slurm's own figure for the job so far
  double joules = 0;
  bool operator==(const Drew&) const = default;
};
using FromAgent = std::variant<Join, Said, Broke, Exited, StepEnded, Drew>;

// ---- world to agent ----

struct Go {      // let the program begin
  int port = 0;  // of a gang: where it meets
  bool operator==(const Go&) const = default;
};
struct Tell {  // the program
  std::string line;
  bool operator==(const Tell&) const = default;
};
struct Signal {  // its whole process group; SIGKILL also reaches those that left it
  int number = 15;
  bool operator==(const Signal&) const = default;
};
struct RunStep {  // for a pilot
  std::string mark;
  std::vector<std::string> command;  // srun, its options, and an agent with a ticket
  bool operator==(const RunStep&) const = default;
};
struct EndStep {  // for a pilot: at once
  std::string mark;
  bool operator==(const EndStep&) const = default;
};
using ToAgent = std::variant<Go, Tell, Signal, RunStep, EndStep>;

// With their newline; parsing takes a line without it and throws protocol::ProtocolError for what is none of
// these.
std::string line(const FromAgent&);
std::string line(const ToAgent&);
FromAgent parse_from_agent(std::string_view);
ToAgent parse_to_agent(std::string_view);

}  // namespace tandem::slurm
