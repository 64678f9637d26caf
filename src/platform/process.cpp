#include "platform/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <set>

#include "base/error.h"
#include "platform/process_tree.h"

namespace tandem::platform {
namespace {

// Everything the child needs, made before fork: after it only system calls are safe.
struct Prepared {
  std::vector<std::string> variables;
  std::vector<char*> argv, envp;
  cpu_set_t cpus;
};

cpu_set_t to_set(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  return set;
}

Prepared prepare(const Launch& launch) {
  Prepared prepared;
  std::map<std::string, std::string> extra = launch.environment;
  extra[kMarkVariable] = launch.mark;
  const auto take_over = [&](char* variable) {
    const char* equals = ::strchr(variable, '=');
    if (!equals || !extra.contains(std::string(variable, static_cast<std::size_t>(equals - variable))))
      prepared.envp.push_back(variable);
  };
  if (launch.base)
    for (const auto& variable : *launch.base) take_over(const_cast<char*>(variable.c_str()));
  else
    for (char** variable = environ; *variable != nullptr; ++variable) take_over(*variable);
  for (const auto& [name, value] : extra) prepared.variables.push_back(name + "=" + value);
  for (auto& variable : prepared.variables) prepared.envp.push_back(variable.data());
  prepared.envp.push_back(nullptr);
  for (const auto& argument : launch.arguments) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  prepared.cpus = to_set(launch.cpus);
  return prepared;
}

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT, SIGCHLD})
    ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Dies with its parent. Forgotten whenever the process becomes another user.
void follow_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above
}

// Groups first: whoever is no longer root may not choose them.
int become(const Credentials& who) {
  // Not the library's functions: they would ask threads that are not here after a fork.
  const bool done = ::syscall(SYS_setgroups, who.groups.size(), who.groups.data()) == 0 &&
                    ::syscall(SYS_setresgid, who.group, who.group, who.group) == 0 &&
                    ::syscall(SYS_setresuid, who.user, who.user, who.user) == 0;
  return done ? 0 : errno;
}

// What went wrong before the program, for open_gate.
struct Trouble {
  int error = 0;
  Child::Step step{};
};

// Only returns when the program could not be started.
Trouble begin(const Launch& launch, const Prepared& prepared, pid_t parent) {
  if (launch.sandbox)
    if (const int error = launch.sandbox->enter(launch.as ? &*launch.as : nullptr)) return {error, Child::Step::sandbox};
  if (launch.as)
    if (const int error = become(*launch.as)) return {error, Child::Step::user};
  follow_parent(parent);
  // Keys of the session that started Tandem are not a job's.
  constexpr int kJoinSessionKeyring = 1;
  if (launch.as || launch.sandbox) ::syscall(SYS_keyctl, kJoinSessionKeyring, nullptr);
  if (launch.umask) ::umask(*launch.umask);
  if (launch.sandbox)
    if (const int error = Sandbox::give_up()) return {error, Child::Step::sandbox};
  if (!launch.folder.empty() && ::chdir(launch.folder.c_str()) != 0) return {errno, Child::Step::folder};
  environ = const_cast<char**>(prepared.envp.data());  // its own PATH finds it
  ::execvp(prepared.argv[0], prepared.argv.data());
  return {errno, Child::Step::program};
}

// Whoever started Tandem may have left it descriptors, and libraries open some without O_CLOEXEC.
void close_others_on_exec() {
  constexpr unsigned kFirst = STDERR_FILENO + 1, kCloexec = 1u << 2;  // CLOSE_RANGE_CLOEXEC, Linux 5.11
  if (::syscall(SYS_close_range, kFirst, ~0u, kCloexec) == 0) return;
  rlimit most{};
  ::getrlimit(RLIMIT_NOFILE, &most);
  for (rlim_t i = kFirst; i < std::min<rlim_t>(most.rlim_cur, 1 << 20); ++i)
    ::fcntl(static_cast<int>(i), F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void run_child(const Launch& launch, const Prepared& prepared, int gate, int status,
                            pid_t parent) {
  ::setpgid(0, 0);
  follow_parent(parent);
  reset_signals();
  if (!launch.cpus.empty()) ::sched_setaffinity(0, sizeof(prepared.cpus), &prepared.cpus);
  if (launch.data_limit > 0) {
    const rlimit limit{static_cast<rlim_t>(launch.data_limit), RLIM_INFINITY};  // soft: it may grow later
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  if (launch.tag > 0) {
    const rlimit both{launch.tag, launch.tag};
    ::setrlimit(RLIMIT_LOCKS, &both);
  }
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  if (launch.output >= 0) {
    ::dup2(launch.output, STDOUT_FILENO);
    ::dup2(launch.errors >= 0 ? launch.errors : launch.output, STDERR_FILENO);
  }
  close_others_on_exec();
  if (launch.inherited >= 0) ::fcntl(launch.inherited, F_SETFD, 0);
  char byte = 0;
  if (::read(gate, &byte, 1) != 1) ::_exit(127);  // the parent gave up
  const Trouble trouble = begin(launch, prepared, parent);
  [[maybe_unused]] auto told = ::write(status, &trouble, sizeof(trouble));
  ::_exit(127);
}

bool is_number(const char* text) {
  return *text >= '0' && *text <= '9';
}

// Calls visit(pid) for each process in /proc.
template <class Visit>
void each_process(Visit visit) {
  DIR* proc = ::opendir("/proc");
  if (!proc) return;
  while (const dirent* entry = ::readdir(proc))
    if (is_number(entry->d_name)) visit(static_cast<pid_t>(std::atoi(entry->d_name)));
  ::closedir(proc);
}

std::string read_small_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content;
  if (!file) return content;
  std::array<char, 4096> chunk;
  ssize_t got;
  while ((got = ::read(file.get(), chunk.data(), chunk.size())) > 0)
    content.append(chunk.data(), static_cast<std::size_t>(got));
  return content;
}

// Field `wanted` (from 3 on) of /proc/PID/stat, counted after the command's closing bracket.
std::optional<std::int64_t> stat_field(pid_t pid, int wanted, char* state = nullptr) {
  const std::string stat = read_small_file("/proc/" + std::to_string(pid) + "/stat");
  std::size_t at = stat.rfind(')');
  if (at == std::string::npos || at + 2 >= stat.size()) return std::nullopt;
  at += 2;
  if (state) *state = stat[at];
  for (int field = 3; field < wanted; ++field) {
    at = stat.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  std::int64_t value = 0;
  std::from_chars(stat.data() + at, stat.data() + stat.size(), value);
  return value;
}

}  // namespace

namespace {

// Of the program, by its keeper; -1: it could not be started.
pid_t told_pid(int from) {
  pid_t pid = -1;
  ssize_t got;
  do got = ::read(from, &pid, sizeof(pid));
  while (got < 0 && errno == EINTR);
  return got == sizeof(pid) ? pid : -1;
}

}  // namespace

Child launch(const Launch& launch) {
  const Prepared prepared = prepare(launch);
  Pipe gate = make_pipe(), status = make_pipe();
  if (launch.kept) adopt_orphans();  // a kept program falls to us at its end
  pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("starting " + launch.arguments.at(0));
  if (pid == 0) {
    ::close(gate.write.get());
    if (launch.kept) parent = begin_keeper(parent, status.write.get());
    run_child(launch, prepared, gate.read.get(), status.write.get(), parent);
  }
  if (!launch.kept) ::setpgid(pid, pid);  // both sides do it, so that it holds whoever runs first
  note_own_child(pid);
  status.write.reset();
  Child child;
  child.pid = launch.kept ? told_pid(status.read.get()) : pid;
  if (launch.kept) child.keeper = pid, child.keeper_started = start_time_of(pid);
  if (child.pid < 0) {
    ::waitpid(pid, nullptr, 0);
    throw SystemError("starting " + launch.arguments.at(0) + ": no more processes can be made");
  }
  child.started = start_time_of(child.pid);
  child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd) {
    const int error = errno;
    ::kill(child.pid, SIGKILL);
    reap(child);
    throw SystemError("watching a new process (pidfd_open, Linux 5.3 or newer)", error);
  }
  child.gate = std::move(gate.write);
  child.status = std::move(status.read);
  return child;
}

int open_gate(Child& child) {
  const char byte = 1;
  [[maybe_unused]] auto told = ::write(child.gate.get(), &byte, 1);
  child.gate.reset();
  Trouble trouble;
  ssize_t got;
  do got = ::read(child.status.get(), &trouble, sizeof(trouble));
  while (got < 0 && errno == EINTR);
  child.status.reset();
  if (got != sizeof(trouble)) return 0;
  child.failed = trouble.step;
  return trouble.error;
}

std::map<std::string, std::string> environment_of(const Launch& launch) {
  std::map<std::string, std::string> out = launch.environment;
  out[kMarkVariable] = launch.mark;
  const auto add = [&](std::string_view variable) {
    const auto equals = variable.find('=');
    if (equals != std::string_view::npos) out.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  };
  if (launch.base)
    for (const auto& variable : *launch.base) add(variable);
  else
    for (char** variable = environ; *variable != nullptr; ++variable) add(*variable);
  return out;
}

std::optional<Ending> look_at_end(const Child& child) {
  siginfo_t info{};
  constexpr int kLook = WEXITED | WNOHANG | WNOWAIT;
  if (::waitid(P_PIDFD, static_cast<id_t>(child.pidfd.get()), &info, kLook) != 0 || info.si_pid == 0)
    return std::nullopt;
  if (child.keeper > 0) {
    // One that was killed could not finish its work: what it kept fell to us.
    if (info.si_code != CLD_EXITED) {
      ::kill(-child.pid, SIGKILL);
      end_all(session_members(child.keeper));
      end_orphans();
    }
    ::waitpid(child.keeper, nullptr, 0);
    int got;
    do got = ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT);
    while (got != 0 && errno == EINTR);
    if (got != 0) return Ending{true, SIGKILL};
  }
  return Ending{info.si_code != CLD_EXITED, info.si_status};
}

bool ends_within(const Child& child, Seconds at_most) {
  pollfd end{child.pidfd.get(), POLLIN, 0};
  int got;
  do got = ::poll(&end, 1, static_cast<int>(std::ceil(std::max(0.0, at_most.value) * 1000)));
  while (got < 0 && errno == EINTR);
  return got > 0;
}

void reap(const Child& child) {
  for (const pid_t pid : {child.keeper, child.pid})
    while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::int64_t start_time_of(pid_t pid) {
  char state = 0;
  const auto started = stat_field(pid, 22, &state);
  return started && state != 'Z' && state != 'X' ? *started : 0;
}

std::vector<pid_t> marked_processes(const std::string& mark) {
  const std::string wanted = std::string(kMarkVariable) + "=" + mark;
  std::vector<pid_t> found;
  each_process([&](pid_t pid) {
    const std::string variables = read_small_file("/proc/" + std::to_string(pid) + "/environ");
    for (std::size_t at = 0; at < variables.size();) {
      const std::size_t end = std::min(variables.find('\0', at), variables.size());
      if (std::string_view(variables).substr(at, end - at) == wanted && start_time_of(pid) != 0) {
        found.push_back(pid);
        return;
      }
      at = end + 1;
    }
  });
  return found;
}

std::vector<pid_t> group_members(pid_t group) {
  std::vector<pid_t> members;
  each_process([&](pid_t pid) {
    char state = 0;
    const auto of = stat_field(pid, 5, &state);
    if (of && *of == group && state != 'Z') members.push_back(pid);
  });
  return members;
}

namespace {

// A thread may be born while we go through the list: go on until a pass finds no new one.
template <class F>
void each_thread(const std::vector<pid_t>& processes, F&& f) {
  for (pid_t pid : processes) {
    std::set<pid_t> done;
    for (bool found_new = true; found_new;) {
      found_new = false;
      DIR* threads = ::opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
      if (!threads) break;
      while (const dirent* entry = ::readdir(threads)) {
        if (!is_number(entry->d_name) || !done.insert(std::atoi(entry->d_name)).second) continue;
        found_new = true;
        f(static_cast<pid_t>(std::atoi(entry->d_name)));
      }
      ::closedir(threads);
    }
  }
}

}  // namespace

void set_affinity(const std::vector<pid_t>& processes, const std::vector<int>& cpus) {
  const cpu_set_t set = to_set(cpus);
  each_thread(processes, [&](pid_t thread) { ::sched_setaffinity(thread, sizeof(set), &set); });
}

void step_aside(const std::vector<pid_t>& processes, const std::vector<int>& cpus) {
  constexpr int kGently = 10;  // a tenth of what a thread at work gets
  set_affinity(processes, cpus);
  each_thread(processes,
              [&](pid_t thread) { ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), kGently); });
}

void set_data_limit(const std::vector<pid_t>& processes, Bytes limit) {
  const rlim_t value = limit > 0 ? static_cast<rlim_t>(limit) : RLIM_INFINITY;
  for (pid_t pid : processes) {
    rlimit wanted{value, RLIM_INFINITY};
    rlimit now{};
    // Without privilege the hard limit cannot rise again, so only the soft one moves.
    if (::prlimit(pid, RLIMIT_DATA, nullptr, &now) == 0) wanted.rlim_max = now.rlim_max;
    if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
    ::prlimit(pid, RLIMIT_DATA, &wanted, nullptr);
  }
}

}  // namespace tandem::platform
