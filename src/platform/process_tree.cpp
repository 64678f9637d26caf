#include "platform/process_tree.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "platform/kernel_text.h"
#include "platform/process.h"
#include "platform/procfs.h"

namespace tandem::platform {
namespace {

constexpr int kMostPasses = 1000;
constexpr useconds_t kPause = 2000;
constexpr int kParentGone = SIGUSR1;

using Identity = std::pair<pid_t, std::int64_t>;  // with its start time

bool is_alive(const ProcessStat& stat) {
  return stat.state != 'Z' && stat.state != 'X';
}

std::map<pid_t, ProcessStat> all_alive() {
  std::map<pid_t, ProcessStat> out;
  const ProcFs proc;
  for (const auto pid : proc.pids())
    if (const auto stat = proc.stat(pid); stat && is_alive(*stat)) out.emplace(static_cast<pid_t>(pid), *stat);
  return out;
}

bool is_below(const std::map<pid_t, ProcessStat>& all, pid_t pid, pid_t root) {
  for (std::size_t steps = 0; steps < all.size(); ++steps) {
    const auto found = all.find(pid);
    if (found == all.end()) return false;
    pid = static_cast<pid_t>(found->second.parent);
    if (pid == root) return true;
  }
  return false;
}

std::set<Identity> below(pid_t root) {
  std::set<Identity> out;
  const auto all = all_alive();
  for (const auto& [pid, stat] : all)
    if (is_below(all, pid, root)) out.emplace(pid, stat.started);
  return out;
}

// Nobody else's process gets the signal: its number may have been used again.
void send(const Identity& to, int signal) {
  if (start_time_of(to.first) == to.second) ::kill(to.first, signal);
}

struct OwnChildren {
  std::mutex mutex;
  std::set<Identity> all;
};

OwnChildren& own_children() {
  static OwnChildren children;
  return children;
}

sigset_t keepers_signals() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGCHLD);
  sigaddset(&out, kParentGone);
  return out;
}

// Waits for children that ended, but for the program, which is left as it is. True: the program has ended.
bool reap_others(pid_t program) {
  siginfo_t seen{};
  while (::waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT) == 0 && seen.si_pid != 0) {
    if (seen.si_pid == program) return true;
    ::waitpid(seen.si_pid, nullptr, WNOHANG);
    seen = {};
  }
  return ::waitid(P_PID, static_cast<id_t>(program), &seen, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         seen.si_pid == program;
}

}  // namespace

void keep(pid_t program) {
  ::close_range(0, ~0U, 0);  // sockets and locks of Tandem would outlive it here
  ::prctl(PR_SET_NAME, "tandem-keeper");
  const sigset_t signals = keepers_signals();
  while (!reap_others(program)) {
    siginfo_t signal{};
    if (::sigwaitinfo(&signals, &signal) == kParentGone) ::kill(program, SIGKILL);
  }
  for (int pass = 0; pass < kMostPasses; ++pass) {
    end_descendants(::getpid());
    // The program's own zombie stays first in line, so the others are asked for one by one.
    bool any_left = false;
    for (const auto pid : ProcFs().pids())
      if (const auto stat = ProcFs().stat(pid); stat && stat->parent == ::getpid() && pid != program)
        any_left |= ::waitpid(static_cast<pid_t>(pid), nullptr, WNOHANG) != pid;
    if (!any_left && below(::getpid()).empty()) break;
    ::usleep(kPause);
  }
  ::_exit(0);
}

std::vector<pid_t> descendants(pid_t root) {
  std::vector<pid_t> out;
  for (const auto& [pid, started] : below(root)) out.push_back(pid);
  return out;
}

std::vector<pid_t> session_members(pid_t session) {
  std::vector<pid_t> out;
  for (const auto& [pid, stat] : all_alive())
    if (stat.session == session) out.push_back(pid);
  return out;
}

void note_own_child(pid_t pid) {
  auto& own = own_children();
  const std::lock_guard lock(own.mutex);
  own.all.emplace(pid, start_time_of(pid));
}

std::vector<pid_t> orphans() {
  auto& own = own_children();
  const std::lock_guard lock(own.mutex);
  std::erase_if(own.all, [](const Identity& one) { return start_time_of(one.first) != one.second; });
  std::vector<pid_t> out;
  const auto session = ::getsid(0);
  for (const auto& [pid, stat] : all_alive())
    if (stat.parent == ::getpid() && stat.session != session && !own.all.contains({pid, stat.started}))
      out.push_back(pid);
  return out;
}

void end_orphans() {
  for (auto left = orphans(); !left.empty(); left = orphans()) {
    if (!end_all(left)) return;
    for (const pid_t pid : left) ::waitpid(pid, nullptr, WNOHANG);
  }
}

void end_descendants(pid_t root) {
  std::set<Identity> stopped;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    bool found_new = false;
    for (const auto& one : below(root)) {
      if (!stopped.insert(one).second) continue;
      found_new = true;
      send(one, SIGSTOP);
    }
    if (!found_new) break;
  }
  for (const auto& one : stopped) send(one, SIGKILL);
}

bool end_all(const std::vector<pid_t>& processes) {
  std::set<Identity> left;
  for (const pid_t pid : processes)
    if (const auto started = start_time_of(pid)) left.emplace(pid, started);
  for (const auto& one : left) {
    send(one, SIGSTOP);
    end_descendants(one.first);
    send(one, SIGKILL);
  }
  for (int pass = 0; pass < kMostPasses; ++pass) {
    std::erase_if(left, [](const Identity& one) { return start_time_of(one.first) != one.second; });
    if (left.empty()) return true;
    ::usleep(kPause);
  }
  return false;
}

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

pid_t begin_keeper(pid_t parent, int pid_to) {
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, kParentGone);
  if (::getppid() != parent) ::_exit(127);
  const pid_t keeper = ::getpid();
  const pid_t program = ::fork();
  if (program == 0) return keeper;
  if (program > 0) ::setpgid(program, program);  // both sides do it, so that it holds whoever runs first
  [[maybe_unused]] auto told = ::write(pid_to, &program, sizeof(program));
  if (program < 0) ::_exit(127);
  keep(program);
}

std::uint64_t new_tag() {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62, kFewest = std::uint64_t{1} << 40;
  rlimit own{};
  if (::getrlimit(RLIMIT_LOCKS, &own) != 0) return 0;
  const std::uint64_t most = std::min<std::uint64_t>(own.rlim_max, kMost);
  if (most < kFewest) return 0;
  std::random_device device;
  return most / 2 + ((std::uint64_t{device()} << 32) | device()) % (most / 2);
}

std::vector<pid_t> tagged_processes(std::uint64_t tag) {
  std::vector<pid_t> out;
  const auto wanted = std::to_string(tag);
  for (const auto& [pid, stat] : all_alive()) {
    const auto limits = read_kernel_text("/proc/" + std::to_string(pid) + "/limits").value_or("");
    const auto at = limits.find("Max file locks");
    if (at == std::string::npos) continue;
    std::istringstream row(limits.substr(at + std::string_view("Max file locks").size()));
    if (std::string soft, hard; row >> soft >> hard && hard == wanted) out.push_back(pid);
  }
  return out;
}

std::string pid_scope() {
  std::array<char, 64> space{};
  if (::readlink("/proc/self/ns/pid", space.data(), space.size() - 1) < 0) space[0] = '\0';
  const auto boot = read_kernel_text("/proc/sys/kernel/random/boot_id").value_or("");
  return boot.substr(0, boot.find('\n')) + " " + space.data();
}

}  // namespace tandem::platform
