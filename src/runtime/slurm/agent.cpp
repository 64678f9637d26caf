#include "runtime/slurm/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.h"
#include "platform/process.h"
#include "protocol/message.h"
#include "runtime/common/clock.h"
#include "runtime/common/launching.h"
#include "runtime/common/output.h"
#include "runtime/slurm/agent_link.h"
#include "runtime/slurm/commands.h"
#include "runtime/slurm/parse.h"
#include "runtime/slurm/submit.h"

namespace tandem::slurm {
namespace {

constexpr Seconds kEnergyLimit{2};
constexpr std::size_t kHeardATurn = 1 << 14, kHeardAtEnd = 1 << 20;  // bytes, as in the local world
constexpr int kEnergyTries = 3;  // a node's first figure may take a while; most sites have none

using platform::Descriptor;

// The CPUs Slurm bound us to; none when it bound us to nothing.
std::vector<int> bound_cpus(int cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) != cores) return {};
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

// One run of one program.
class Agent {
 public:
  Agent(const Ticket& ticket, std::size_t rank) : ticket_(ticket), record_(new_record(ticket)), rank_(rank) {}

  int run() {
    signals_ = catch_signals();
    world_ = AgentLink(ticket_);
    if (!world_) return give_up("Tandem cannot be reached; is its machine's firewall open to the nodes?");
    const bool follows = rank_ > 0;  // then where they meet is known with Go
    if (!ticket_.nodes.empty() && !follows) port_ = runtime::free_port();
    if (!follows) begin();
    if (!join())
      return give_up(ticket_.nodes.empty() ? "Tandem did not want this attempt any more"
                                           : "Tandem did not let it begin: did all of its gang come?");
    if (follows) begin();
    if (const int error = platform::open_gate(child_))
      record_.could_not_start =
          ticket_.command[0] + ": " + ::strerror(error) + "; is it installed on the node?";
    while (!ended_) look();
    return finish();
  }

 private:
  void begin() {
    Descriptor theirs;
    if (!ticket_.plain && rank_ == 0) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("making a socket");
      program_.reset(ends[0]);
      theirs.reset(ends[1]);
    }
    const Descriptor output =
        outputs_.begin(0, ticket_.output.parent_path(), ticket_.output.filename(), ticket_.output_limit);
    platform::Launch launch;
    launch.arguments = ticket_.command;
    launch.environment = ticket_.environment;
    if (!ticket_.nodes.empty()) {
      launch.environment.merge(runtime::gang_environment(rank_, ticket_.nodes.size(), ticket_.master, port_));
      launch.environment["TANDEM_NODE"] = record_.node;
    }
    if (theirs) {
      launch.environment["TANDEM_SOCKET"] = std::to_string(theirs.get());
      launch.inherited = theirs.get();
    }
    launch.mark = ticket_.mark;
    launch.output = output.get();
    launch.data_limit = ticket_.data_limit;
    launch.folder = ticket_.folder;
    child_ = platform::launch(launch);
    record_.began = wall_clock();
  }

  bool join() {
    world_.send(Join{ticket_.mark, ticket_.token, record_.node, record_.job, child_.pid, child_.started,
                     bound_cpus(ticket_.cores), port_});
    for (const double until = runtime::steady().value + kPatience;
         world_ && !may_go_ && runtime::steady().value < until && !asked_to_end_;)
      look();
    return may_go_ && world_;
  }

  void look() {
    // A follower has no program before Go: then poll passes its descriptors over.
    std::array<pollfd, 4> on{{{world_.descriptor(), POLLIN, 0},
                              {program_.get(), POLLIN, 0},
                              {child_.pidfd.get(), POLLIN, 0},
                              {signals_.get(), POLLIN, 0}}};
    const double left = kill_at_ > 0 ? kill_at_ - runtime::steady().value : 1;
    ::poll(on.data(), on.size(), left > 0 ? static_cast<int>(left * 1000) + 1 : 0);
    if (on[3].revents) heard_signal();
    if (on[1].revents || on[2].revents) heard_program();
    if (on[0].revents) heard_world();
    if (kill_at_ > 0 && runtime::steady().value >= kill_at_) kill_all();
    if (on[2].revents) ended_ = true;
  }

  // What is left waits in the socket: orders, signals and deadlines are looked at between.
  void heard_program(std::size_t most = kHeardATurn) {
    std::array<char, kHeardATurn> bytes;
    while (program_ && most > 0) {
      const ssize_t got = ::recv(program_.get(), bytes.data(), std::min(most, bytes.size()), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) program_.reset();
      if (got <= 0) return;
      most -= static_cast<std::size_t>(got);
      try {
        said_.feed({bytes.data(), static_cast<std::size_t>(got)});
        for (bool first = true; auto line = said_.next(); first = false) {
          if (first) tell_energy();  // a command each time: once for lines that came together
          send(Said{std::move(*line)});
        }
      } catch (const protocol::ProtocolError& e) {
        send(Broke{e.what()});
        program_.reset();
      }
    }
  }

  void heard_world() {
    if (!world_) return;
    for (const auto& order : world_.receive()) obey(order);
    if (!world_) lost_world();
  }

  void obey(const ToAgent& order) {
    if (const auto* go = std::get_if<Go>(&order)) {
      may_go_ = true;
      port_ = go->port;
    } else if (const auto* tell = std::get_if<Tell>(&order)) {
      const std::string line = tell->line + "\n";
      if (program_) [[maybe_unused]]
        auto sent = ::send(program_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    } else if (const auto* signal = std::get_if<Signal>(&order)) {
      told_to_end_ = true;
      asked_to_end_ = asked_to_end_ || !may_go_;  // it need not wait for the others of its gang any more
      if (signal->number == SIGKILL)
        kill_all();
      else
        signal_program(signal->number);
    }
  }

  void lost_world() {
    world_.close();
    record_.lost_tandem = true;
    program_.reset();
    ask_to_end();
  }

  void heard_signal() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      record_.asked_by_slurm = asked_to_end_ = true;
      ask_to_end();
    }
  }

  // Slurm signals the program and us, in any order: ours may be on its way.
  void was_it_slurm() {
    constexpr int kOnItsWay = 500;  // ms
    pollfd on{signals_.get(), POLLIN, 0};
    signalfd_siginfo signal;
    if (::poll(&on, 1, kOnItsWay) > 0 && ::read(signals_.get(), &signal, sizeof(signal)) > 0)
      record_.asked_by_slurm = true;
  }

  void signal_program(int number) {
    if (child_.pid > 0) ::kill(-child_.pid, number);
  }

  void ask_to_end() {
    signal_program(SIGTERM);
    if (kill_at_ == 0) kill_at_ = runtime::steady().value + ticket_.grace.value;
  }

  void kill_all() {
    kill_at_ = 0;
    signal_program(SIGKILL);
    for (pid_t pid : platform::marked_processes(ticket_.mark)) ::kill(pid, SIGKILL);
  }

  // What Slurm has measured so far. It measures nodes, so that it is this program's only where that has the
  // node to itself.
  void tell_energy() {
    if (!ticket_.whole_node || rank_ > 0 || energy_refused_ >= kEnergyTries) return;
    const auto joules = parse_energy(Commands().run_and_wait(sstat(record_.job), kEnergyLimit).output);
    if (joules)
      send(Drew{*joules});
    else
      ++energy_refused_;
  }

  void send(const FromAgent& message) {
    if (!world_) return;
    world_.send(message);
    if (!world_) lost_world();
  }

  // Nothing of the program has run.
  int give_up(const char* why) {
    std::fprintf(stderr, "tandem-slurm-agent: %s\n", why);
    if (child_.pid > 0) {
      child_.gate.reset();
      ::kill(child_.pid, SIGKILL);
      ::waitpid(child_.pid, nullptr, 0);
    }
    record_.could_not_start = why;
    record_.ended = wall_clock();
    write_record(ticket_.record, record_);
    return 1;
  }

  int finish() {
    heard_program(kHeardAtEnd);  // its last words
    kill_all();       // before it is reaped: its number is still its own
    outputs_.end(0);
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(child_.pidfd.get()), &info, WEXITED);
    const bool by_others = info.si_code != CLD_EXITED && info.si_status == SIGTERM && !told_to_end_;
    if (by_others && !record_.asked_by_slurm && world_) was_it_slurm();
    record_.signalled = info.si_code != CLD_EXITED;
    record_.status = info.si_status;
    record_.ended = wall_clock();
    write_record(ticket_.record, record_);
    tell_energy();
    send(Exited{record_});
    return record_.signalled ? 128 + record_.status : record_.status;
  }

  const Ticket& ticket_;
  ExitRecord record_;
  platform::Child child_;
  AgentLink world_;
  Descriptor program_, signals_;
  runtime::Outputs outputs_;
  protocol::LineReader said_;
  bool may_go_ = false, ended_ = false, asked_to_end_ = false, told_to_end_ = false;
  double kill_at_ = 0;
  std::size_t rank_ = 0;
  int port_ = 0;            // of a gang: where its programs meet
  int energy_refused_ = 0;  // how often Slurm had no figure
};

}  // namespace

int run_agent(const Ticket& whole) {
  const std::size_t rank = whole.nodes.empty() ? 0 : rank_on(whole, new_record(whole).node);
  const Ticket ticket = of_rank(whole, rank);
  if (!claim(ticket)) return kUsedTicket;
  return Agent(ticket, rank).run();
}

}  // namespace tandem::slurm
