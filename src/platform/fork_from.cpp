#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "platform/process.h"
#include "platform/process_tree.h"
#include "platform/procfs.h"

namespace tandem::platform {
namespace {

struct Forked {
  std::int32_t keeper = -1, program = -1;
};

bool send_with(int socket, const std::string& text, const std::vector<int>& descriptors) {
  std::array<char, CMSG_SPACE(sizeof(int) * 8)> room{};
  const std::size_t size = descriptors.size() * sizeof(int);
  iovec bytes{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = CMSG_SPACE(size);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(header), descriptors.data(), size);
  // One that does not read would keep us waiting.
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(text.size());
}

// Until all of it is there, or its other end is closed.
bool read_forked(int from, Seconds at_most, Forked& out) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(at_most.value));
  for (std::size_t have = 0; have < sizeof(out);) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{from, POLLIN, 0};
    const int found = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return false;
    const ssize_t got = ::read(from, reinterpret_cast<char*>(&out) + have, sizeof(out) - have);
    if (got <= 0) return false;
    have += static_cast<std::size_t>(got);
  }
  return true;
}

// What it says was done is what the kernel says, and both were begun since: no keeper of another attempt is meant.
bool is_kept_here(const Forked& forked, std::int64_t since) {
  const auto keeper = ProcFs().stat(forked.keeper), program = ProcFs().stat(forked.program);
  return keeper && program && keeper->parent == ::getpid() && program->parent == forked.keeper &&
         keeper->started >= since && program->started >= since;
}

// In clock ticks since the machine was started, as /proc counts.
std::int64_t ticks_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto a_second = ::sysconf(_SC_CLK_TCK);
  return now.tv_sec * a_second + now.tv_nsec * a_second / 1'000'000'000;
}

void make_pipe(Descriptor& read, Descriptor& write) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe");
  read.reset(ends[0]);
  write.reset(ends[1]);
}

}  // namespace

std::optional<Child> fork_from(int socket, const std::string& request, const Launch& launch, Seconds at_most,
                               std::string& why) {
  adopt_orphans();  // its keeper becomes our child, and it too at its end
  Child child;
  Descriptor gate, status;
  make_pipe(gate, child.gate);
  make_pipe(child.status, status);
  std::vector<int> given{launch.output, launch.errors >= 0 ? launch.errors : launch.output, gate.get(), status.get()};
  if (launch.inherited >= 0) given.push_back(launch.inherited);
  const auto asked = ticks_now();
  if (!send_with(socket, request, given)) {
    why = "its template takes no more requests";
    return std::nullopt;
  }
  status.reset();
  Forked forked;
  if (!read_forked(child.status.get(), at_most, forked) || !is_kept_here(forked, asked)) {
    why = "its template did not fork it";
    return std::nullopt;  // what it may yet fork finds its gate closed, and ends
  }
  child.keeper = forked.keeper;
  child.pid = forked.program;
  if (launch.tag > 0) {
    const rlimit both{launch.tag, launch.tag};  // it waits at its gate: whatever it starts inherits it
    ::prlimit(child.pid, RLIMIT_LOCKS, &both, nullptr);
  }
  note_own_child(child.keeper);
  child.keeper_started = start_time_of(child.keeper);
  child.started = start_time_of(child.pid);
  child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.keeper, 0)));
  if (!child.pidfd) throw_errno("watching a new process");
  return child;
}

}  // namespace tandem::platform
