#include "trainer/hang_up.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace tandem::trainer {

int socket_of_environment() {
  const char* written = std::getenv("TANDEM_SOCKET");
  return written == nullptr ? -1 : std::atoi(written);
}

HangUpWatch::HangUpWatch(int descriptor) : wake_(eventfd(0, EFD_CLOEXEC)) {
  if (wake_ < 0) throw_errno("making an eventfd");
  thread_ = std::thread([this, descriptor] { watch(descriptor); });
}

HangUpWatch::~HangUpWatch() {
  eventfd_write(wake_, 1);
  thread_.join();
  close(wake_);
}

void HangUpWatch::watch(int descriptor) {
  pollfd both[] = {{descriptor, POLLRDHUP, 0}, {wake_, POLLIN, 0}};
  while (poll(both, 2, -1) < 0)
    if (errno != EINTR) return;  // without a watch the next report still notices
  if (both[1].revents != 0 || !armed_) return;
  constexpr std::string_view kMessage = "tandem-trainer: Tandem is gone, so this ends too\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(1);
}

}  // namespace tandem::trainer
