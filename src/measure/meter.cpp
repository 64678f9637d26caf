#include "measure/meter.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <thread>

#include "base/text.h"

namespace tandem::measure {

Seconds steady_now() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

void sleep_for(Seconds seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds.value));
}

RaplMeter::RaplMeter(std::vector<platform::EnergyZone> zones, Clock clock) : clock_(std::move(clock)) {
  for (auto& zone : zones) zones_.push_back({std::move(zone)});
}

bool RaplMeter::may_have_wrapped_twice(const platform::EnergyZone& zone, Seconds since) const {
  // More than any package draws; a wrap cannot come sooner.
  constexpr Watts kMost{1000};
  return zone.range > 0 && (kMost * since).value * 1e6 > static_cast<double>(zone.range);
}

std::optional<MeterReading> RaplMeter::read() {
  const Seconds now = clock_();
  std::uint64_t microjoules = 0;
  bool broken = false;
  for (auto& [zone, last] : zones_) {
    const auto count = platform::read_microjoules(zone);
    if (!count) {
      // What the other zones have counted by now would be lost from the sum.
      if (last_at_) ++reading_.breaks;
      last_at_.reset();
      return std::nullopt;
    }
    const auto added = last_at_ ? platform::microjoules_between(last, *count, zone.range) : 0;
    broken |= !added || (last_at_ && may_have_wrapped_twice(zone, now - *last_at_));
    microjoules += added.value_or(0);
    last = *count;
  }
  if (broken)
    ++reading_.breaks;
  else
    reading_.total += Joules{static_cast<double>(microjoules) * 1e-6};
  last_at_ = now;
  return reading_;
}

PowerModel default_power_model(int cores) {
  return {Watts{4.0 * cores}, Watts{15.0 * cores}};
}

ModelMeter::ModelMeter(PowerModel model, int cores, platform::ProcFs proc, Clock clock)
    : model_(model), cores_(cores), proc_(std::move(proc)), clock_(std::move(clock)) {
  assert(cores > 0);
}

std::string ModelMeter::source() const {
  return "model (idle " + text(model_.idle) + ", busy " + text(model_.busy) + ")";
}

std::optional<MeterReading> ModelMeter::read() {
  const Seconds now = clock_();
  const auto busy = proc_.busy();
  if (!busy) return std::nullopt;
  if (last_at_) {
    const Seconds worked{std::max(0.0, (*busy - *last_busy_).value)};
    reading_.total += model_.idle * (now - *last_at_) + (model_.busy - model_.idle) * (worked / cores_);
  }
  last_at_ = now;
  last_busy_ = busy;
  return reading_;
}

}  // namespace tandem::measure
