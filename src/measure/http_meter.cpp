#include "measure/http_meter.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/error.h"
#include "measure/watts_text.h"

namespace tandem::measure {

Watts ask_power_meter(const std::string& url, Seconds timeout, int cancel_fd) {
  platform::HttpLimits limits;
  limits.at_most = timeout;
  limits.cancel_fd = cancel_fd;
  return watts_from(platform::http_get(platform::parse_http_url(url), limits));
}

HttpMeter::HttpMeter(HttpMeterOptions options)
    : options_(std::move(options)), cancel_fd_(-1), integral_(options_.longest_gap) {
  const Watts first = ask_power_meter(options_.url, options_.timeout);
  integral_.add(options_.clock(), first);
  cancel_fd_ = eventfd(0, EFD_CLOEXEC);
  if (cancel_fd_ < 0) throw_errno("making an eventfd for the power meter");
  thread_ = std::thread([this] { keep_asking(); });
}

HttpMeter::~HttpMeter() {
  const std::uint64_t one = 1;
  // A fresh eventfd takes one write without fail.
  [[maybe_unused]] const auto written = ::write(cancel_fd_, &one, sizeof one);
  thread_.join();
  ::close(cancel_fd_);
}

std::optional<MeterReading> HttpMeter::read() {
  const std::lock_guard lock(mutex_);
  return integral_.at(options_.clock());
}

std::string HttpMeter::last_trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void HttpMeter::ask() {
  try {
    const Watts power = ask_power_meter(options_.url, options_.timeout, cancel_fd_);
    const std::lock_guard lock(mutex_);
    integral_.add(options_.clock(), power);
    trouble_.clear();
  } catch (const SystemError& error) {
    // The gap this leaves is marked by the integral; the next question may be answered.
    const std::lock_guard lock(mutex_);
    trouble_ = error.what();
  }
}

void HttpMeter::keep_asking() {
  pollfd cancelled{cancel_fd_, POLLIN, 0};
  while (poll(&cancelled, 1, static_cast<int>(options_.period.value * 1000)) <= 0) ask();
}

}  // namespace tandem::measure
