#include "measure/power_integral.h"

#include <algorithm>

namespace tandem::measure {

void PowerIntegral::add(Seconds at, Watts power) {
  if (last_) {
    if (at - last_->at > longest_gap_)
      ++breaks_;
    else
      total_ += (last_->power + power) / 2 * (at - last_->at);
  }
  last_ = {at, power};
}

std::optional<MeterReading> PowerIntegral::at(Seconds now) {
  if (!last_ || now - last_->at > longest_gap_) return std::nullopt;
  const Seconds held{std::max(0.0, (now - last_->at).value)};
  shown_ = std::max(shown_, total_ + last_->power * held);
  return MeterReading{shown_, breaks_};
}

}  // namespace tandem::measure
