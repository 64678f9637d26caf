#include "platform/guardian_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "platform/process_tree.h"

namespace tandem::platform {
namespace {

// NVML may take seconds to start where the driver is not kept loaded; it puts back for some seconds too.
constexpr int kAnswerMilliseconds = 20'000, kEndMilliseconds = 15'000;

std::string trouble(const std::string& doing) {
  return doing + ": " + std::strerror(errno);
}

// Between fork and exec: system calls only.
[[noreturn]] void become_guardian(char* const* argv, int socket, int owner, int status) {
  ::setsid();  // a signal to the owner's group, or from its terminal, is not for us
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) std::signal(signal, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Above all the numbers they go to, so that no copy overwrites another one's source.
  constexpr int kAbove = 8;
  socket = ::fcntl(socket, F_DUPFD, kAbove);
  owner = ::fcntl(owner, F_DUPFD, kAbove);
  status = ::fcntl(status, F_DUPFD, kAbove);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, number);
  ::dup2(socket, kGuardianSocket);
  ::dup2(owner, kGuardianOwner);
  constexpr int kStatus = kGuardianOwner + 1;
  ::dup3(status, kStatus, O_CLOEXEC);
  ::close_range(kStatus + 1, ~0U, 0);
  ::execvp(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] auto told = ::write(kStatus, &error, sizeof(error));
  ::_exit(127);
}

}  // namespace

GuardianLink::GuardianLink(std::filesystem::path program, std::filesystem::path folder,
                           std::filesystem::path log)
    : program_(std::move(program)), folder_(std::move(folder)), log_(std::move(log)) {}

GuardianLink::~GuardianLink() {
  reap();
}

bool GuardianLink::alive() {
  pollfd socket{socket_.get(), 0, 0};
  return socket_ && ::poll(&socket, 1, 0) == 0;  // hung up, or an error: it is gone
}

// Ends the talk. A guardian that sees it puts back what it remembers; one that takes too long is left to it.
void GuardianLink::reap() {
  socket_.reset();
  if (pid_ < 0) return;
  const Descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd wait{ended.get(), POLLIN, 0};
  if (ended) ::poll(&wait, 1, kEndMilliseconds);
  ::waitpid(pid_, nullptr, WNOHANG);
  pid_ = -1;
}

std::string GuardianLink::start() {
  reap();
  int pair[2], status[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return trouble("making a pair of sockets");
  Descriptor ours(pair[0]), theirs(pair[1]);
  if (::pipe2(status, O_CLOEXEC) != 0) return trouble("making a pipe");
  Descriptor status_read(status[0]), status_write(status[1]);
  const Descriptor self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) return trouble("watching this process (pidfd_open, Linux 5.3 or newer)");

  std::vector<std::string> arguments{program_.string(), "--folder", folder_.string()};
  if (!log_.empty()) arguments.insert(arguments.end(), {"--log", log_.string()});
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return trouble("starting " + program_.string());
  if (pid == 0) become_guardian(argv.data(), theirs.get(), self.get(), status_write.get());
  pid_ = pid;
  note_own_child(pid);
  theirs.reset();
  status_write.reset();
  int error = 0;
  ssize_t got;
  do got = ::read(status_read.get(), &error, sizeof(error));
  while (got < 0 && errno == EINTR);
  if (got == sizeof(error)) {
    reap();
    errno = error;
    return trouble("starting the guardian " + program_.string());
  }
  socket_ = std::move(ours);
  return "";
}

std::string GuardianLink::remember(const FormerSetting& former, int lock) {
  return ask("gpu " + to_line(former), lock);
}

std::string GuardianLink::forget(const std::string& uuid) {
  return ask("forget " + uuid);
}

std::string GuardianLink::ask(std::string_view message, int descriptor) {
  iovec part{const_cast<char*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
  msghdr whole{};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  if (descriptor >= 0) {
    whole.msg_control = ancillary.data();
    whole.msg_controllen = ancillary.size();
    cmsghdr* header = CMSG_FIRSTHDR(&whole);
    *header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  if (::sendmsg(socket_.get(), &whole, MSG_NOSIGNAL) < 0) return trouble("telling the guardian");
  pollfd socket{socket_.get(), POLLIN, 0};
  int ready;
  do ready = ::poll(&socket, 1, kAnswerMilliseconds);
  while (ready < 0 && errno == EINTR);
  std::array<char, kLongestGuardianMessage> answer{};
  const ssize_t got = ready > 0 ? ::recv(socket_.get(), answer.data(), answer.size() - 1, MSG_DONTWAIT) : -1;
  if (got <= 0) {
    if (pid_ > 0) ::kill(pid_, SIGKILL);  // one that hangs must not put back later what was set meanwhile
    socket_.reset();
    return ready == 0 ? "the guardian does not answer" : "the guardian has ended";
  }
  const std::string said(answer.data(), static_cast<std::size_t>(got));
  return said == "ok" ? "" : printable(said);
}

}  // namespace tandem::platform
