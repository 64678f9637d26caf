// The agent of a pilot: starts steps of its job when it is told to, and says when they have ended.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/error.h"
#include "platform/process.h"
#include "runtime/common/clock.h"
#include "runtime/slurm/agent.h"
#include "runtime/slurm/agent_link.h"

namespace tandem::slurm {
namespace {

class PilotAgent {
 public:
  explicit PilotAgent(const Ticket& ticket) : ticket_(ticket), record_(new_record(ticket)) {}

  int run() {
    signals_ = catch_signals();
    link_ = AgentLink(ticket_);
    if (!link_) return finish("Tandem cannot be reached; is its machine's firewall open to the nodes?");
    record_.began = wall_clock();
    link_.send(Join{ticket_.mark, ticket_.token, record_.node, record_.job, ::getpid(), 0, {}});
    while (link_ && !ending_) look();
    record_.lost_tandem = !link_;
    let_steps_end();
    return finish("");
  }

 private:
  void look(double at_most = 3600) {
    std::vector<pollfd> on{{link_.descriptor(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    for (const auto& [mark, step] : steps_) on.push_back({step.pidfd.get(), POLLIN, 0});
    ::poll(on.data(), on.size(), static_cast<int>(at_most * 1000));
    if (on[1].revents) heard_signal();
    if (on[0].revents)
      for (const auto& order : link_.receive()) obey(order);
    reap();
  }

  void heard_signal() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) record_.asked_by_slurm = true;
    ending_ = true;  // Slurm signals the steps itself
  }

  void obey(const ToAgent& order) {
    if (const auto* step = std::get_if<RunStep>(&order)) {
      start(*step);
    } else if (const auto* end = std::get_if<EndStep>(&order)) {
      if (const auto found = steps_.find(end->mark); found != steps_.end())
        ::kill(found->second.pid, SIGTERM);  // srun then ends the whole step
    } else if (std::holds_alternative<Signal>(order)) {
      ending_ = true;
    }
  }

  void start(const RunStep& step) {
    platform::Launch launch;
    launch.arguments = step.command;
    auto child = platform::launch(launch);
    if (const int error = platform::open_gate(child)) {
      std::fprintf(stderr, "tandem-slurm-agent: %s: error %d\n", step.command[0].c_str(), error);
      ::waitpid(child.pid, nullptr, 0);
      link_.send(StepEnded{step.mark, 127});
      return;
    }
    steps_.insert_or_assign(step.mark, std::move(child));
  }

  void reap() {
    std::erase_if(steps_, [&](auto& one) {
      int status = 0;
      if (::waitpid(one.second.pid, &status, WNOHANG) != one.second.pid) return false;
      link_.send(StepEnded{one.first, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)});
      return true;
    });
  }

  // Their agents have lost Tandem, too, or were signalled: they end their programs and write their records.
  // Whoever does not is ended by Slurm when this job ends.
  void let_steps_end() {
    const Seconds until = runtime::steady() + 2 * ticket_.grace + Seconds{2};
    while (!steps_.empty() && runtime::steady() < until) look(0.1);
  }

  int finish(const char* could_not_start) {
    record_.could_not_start = could_not_start;
    record_.ended = wall_clock();
    write_record(ticket_.record, record_);
    link_.send(Exited{record_});
    return *could_not_start ? 1 : 0;
  }

  const Ticket& ticket_;
  ExitRecord record_;
  AgentLink link_;
  platform::Descriptor signals_;
  std::map<std::string, platform::Child> steps_;
  bool ending_ = false;
};

}  // namespace

int run_pilot(const Ticket& ticket) {
  if (!claim(ticket)) return kUsedTicket;
  return PilotAgent(ticket).run();
}

}  // namespace tandem::slurm
