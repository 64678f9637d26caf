#include "runtime/bags/guardian.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <exception>

#include "base/error.h"

namespace tandem::bags {
namespace {

[[noreturn]] void guard(const platform::Descriptor& owner, const std::function<void()>& tidy_up) {
  ::setsid();  // a signal to the owner's group is not for us
  // Nothing of the owner's is held on to: another guardian waits for its own pipe to close.
  const auto ours = static_cast<unsigned>(owner.get());
  ::close_range(3, ours - 1, 0);
  ::close_range(ours + 1, ~0U, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
  char byte = 0;
  while (::read(owner.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  try {
    tidy_up();
  } catch (const std::exception&) {
    ::_exit(1);  // nobody is left to be told
  }
  ::_exit(0);
}

}  // namespace

Guardian::Guardian(const std::function<void()>& tidy_up) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe");
  platform::Descriptor owner(ends[0]);
  alive_.reset(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("starting the process that tidies up");
  if (pid_ == 0) {
    alive_.reset();
    guard(owner, tidy_up);
  }
}

Guardian::~Guardian() {
  alive_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tandem::bags
