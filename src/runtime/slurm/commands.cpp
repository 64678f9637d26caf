#include "runtime/slurm/commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "runtime/common/clock.h"

namespace tandem::slurm {
namespace {

constexpr std::size_t kMostOutput = 64 << 20;

struct Pipe {
  platform::Descriptor read, write;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
    ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
  }
};

void append_all(platform::Descriptor& from, std::string& to) {
  std::array<char, 1 << 16> bytes;
  ssize_t got = -1;
  while (from && (got = ::read(from.get(), bytes.data(), bytes.size())) > 0)
    if (to.size() < kMostOutput) to.append(bytes.data(), static_cast<std::size_t>(got));
  if (got == 0)
    from.reset();  // a pipe at its end stays readable, and a command may take long to exit after that
}

}  // namespace

struct Commands::Running {
  platform::Child child;
  platform::Descriptor output, errors;
  CommandResult result;
  double limit_at = 0;
  Done done;
};

std::string CommandResult::why() const {
  if (timed_out) return "it did not answer in time";
  const auto first = errors.find_first_not_of(" \n");
  if (first == std::string::npos) return fmt::format("exit status {}", status);
  const auto last = errors.find_last_not_of(" \n");
  return printable(errors.substr(first, last - first + 1), 500);
}

Commands::Commands() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw_errno("making an event queue");
}

Commands::~Commands() {
  for (auto& [key, one] : running_) {
    ::kill(-one.child.pid, SIGKILL);
    ::waitpid(one.child.pid, nullptr, 0);
  }
}

void Commands::run(std::vector<std::string> arguments, Seconds limit, Done done) {
  Pipe output, errors;
  platform::Launch launch;
  launch.arguments = std::move(arguments);
  launch.output = output.write.get();
  launch.errors = errors.write.get();
  Running one;
  one.child = platform::launch(launch);
  output.write.reset();
  errors.write.reset();
  if (const int error = platform::open_gate(one.child)) {
    ::waitpid(one.child.pid, nullptr, 0);
    done({127, false, "",
          fmt::format("{}: {}; is Slurm installed here?", launch.arguments[0], ::strerror(error))});
    return;
  }
  one.output = std::move(output.read);
  one.errors = std::move(errors.read);
  one.limit_at = runtime::steady().value + limit.value;
  one.done = std::move(done);
  const std::uint64_t key = next_++;
  for (int descriptor : {one.output.get(), one.errors.get(), one.child.pidfd.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = key;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) throw_errno("watching a command");
  }
  running_.emplace(key, std::move(one));
}

CommandResult Commands::run_and_wait(std::vector<std::string> arguments, Seconds limit) {
  std::optional<CommandResult> result;
  run(std::move(arguments), limit, [&](const CommandResult& r) { result = r; });
  while (!result) {
    pollfd on{epoll_.get(), POLLIN, 0};
    ::poll(&on, 1, std::max(1, static_cast<int>(std::min(until_limit().value, 1.0) * 1000)));
    look();
  }
  return *result;
}

Seconds Commands::until_limit() const {
  double least = 1e9;
  for (const auto& [key, one] : running_) least = std::min(least, one.limit_at - runtime::steady().value);
  return {std::max(least, 0.0)};
}

void Commands::drain(Running& one) {
  append_all(one.output, one.result.output);
  append_all(one.errors, one.result.errors);
}

void Commands::look() {
  std::array<epoll_event, 32> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const auto key = ready[static_cast<std::size_t>(i)].data.u64;
    auto found = running_.find(key);
    if (found == running_.end()) continue;
    drain(found->second);
    siginfo_t info{};
    constexpr int kLook = WEXITED | WNOHANG | WNOWAIT;
    const auto pidfd = static_cast<id_t>(found->second.child.pidfd.get());
    if (::waitid(P_PIDFD, pidfd, &info, kLook) == 0 && info.si_pid != 0) finish(key, false);
  }
  std::vector<std::uint64_t> late;
  for (const auto& [key, one] : running_)
    if (runtime::steady().value >= one.limit_at) late.push_back(key);
  for (auto key : late) finish(key, true);
}

void Commands::finish(std::uint64_t key, bool timed_out) {
  auto node = running_.extract(key);
  Running& one = node.mapped();
  ::kill(-one.child.pid, SIGKILL);
  int status = 0;
  ::waitpid(one.child.pid, &status, 0);
  drain(one);
  one.result.timed_out = timed_out;
  one.result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  one.done(one.result);
}

}  // namespace tandem::slurm
