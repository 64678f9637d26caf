#include "measure/channel.h"

#include <algorithm>

namespace tandem::measure {
namespace {

// Ends a stretch: its mean, with sum and time back at zero.
std::optional<double> end_stretch(double& sum, Seconds& measured) {
  if (measured.value <= 0) return std::nullopt;
  const double rate = sum / measured.value;
  sum = 0;
  measured = {};
  return rate;
}

}  // namespace

double GrowingChannel::update(Seconds now, double value) {
  const double added = started_ ? std::max(0.0, value - last_) : 0;
  if (started_) measured_ += now - last_at_;
  started_ = true;
  sum_ += added;
  last_ = value;
  last_at_ = now;
  return added;
}

std::optional<double> GrowingChannel::take() {
  return end_stretch(sum_, measured_);
}

void LevelChannel::update(Seconds now, double value) {
  if (started_) {
    area_ += (value + last_) / 2 * (now - last_at_).value;
    measured_ += now - last_at_;
  }
  started_ = true;
  last_ = value;
  last_at_ = now;
}

std::optional<double> LevelChannel::take() {
  return end_stretch(area_, measured_);
}

double ScaledChannel::update(Seconds now, const platform::Count& count) {
  const bool reset =
      count.value < last_.value || count.enabled_ns < last_.enabled_ns || count.running_ns < last_.running_ns;
  if (!started_ || reset) {
    started_ = true;
    last_ = count;
    last_at_ = now;
    return 0;
  }
  const auto enabled = static_cast<double>(count.enabled_ns - last_.enabled_ns);
  const auto running = static_cast<double>(count.running_ns - last_.running_ns);
  if (running == 0 && enabled > 0) return 0;
  // Neither enabled nor running: the task slept, and slept without events.
  const double added = running > 0 ? static_cast<double>(count.value - last_.value) * (enabled / running) : 0;
  sum_ += added;
  measured_ += now - last_at_;
  last_ = count;
  last_at_ = now;
  return added;
}

std::optional<double> ScaledChannel::take() {
  return end_stretch(sum_, measured_);
}

}  // namespace tandem::measure
