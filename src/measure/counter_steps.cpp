#include "measure/counter_steps.h"

#include <algorithm>
#include <cmath>

namespace tandem::measure {
namespace {

constexpr double kGrid = 0.02, kOffTheGrid = 0.009;  // seconds
constexpr double kShortest = 0.03, kLongest = 0.3;   // seconds between steps
constexpr int kAlways = 4;                           // polls in a row at which it moved
constexpr double kBelieved = 10;                     // seconds
constexpr double kUnsure = 0.008;                    // seconds that a step may be earlier or later

}  // namespace

CounterSteps::Search CounterSteps::poll(Seconds at, double joules) {
  if (!polls_.empty() && (at - polls_.front().at).value > 2 * kLongest) return Search::none;
  const bool moved = !polls_.empty() && joules != polls_.back().joules;
  // Between its first reading and the next much else may have been done.
  if (moved && polls_.size() > 1) steps_.push_back({(polls_.back().at + at) / 2, joules});
  polls_.push_back({at, joules});
  moves_in_a_row_ = moved ? moves_in_a_row_ + 1 : 0;
  if (moves_in_a_row_ >= kAlways) return Search::none;
  if (steps_.size() < 2) return Search::goes_on;
  const double apart = (steps_[1].at - steps_[0].at).value;
  period_ = std::round(apart / kGrid) * kGrid;
  if (period_ < kShortest || period_ > kLongest || std::abs(apart - period_) > kOffTheGrid)
    return Search::none;
  phase_ = (steps_[0].at + Seconds{period_} + steps_[1].at) / 2;
  last_ = {at, joules};
  watts_ = (steps_[1].joules - steps_[0].joules) / period_;
  return Search::found;
}

std::int64_t CounterSteps::step_of(Seconds at) const {
  return static_cast<std::int64_t>(std::floor((at - phase_).value / period_));
}

double CounterSteps::since_step(Seconds at) const {
  return (at - phase_).value - static_cast<double>(step_of(at)) * period_;
}

double CounterSteps::first_missed() const {
  const auto& first = polls_.front();
  const auto steps = step_of(steps_[0].at + Seconds{period_ / 2}) - step_of(first.at);
  if (steps <= 0) return 0;
  return (steps_[0].joules - first.joules) / (static_cast<double>(steps) * period_) * since_step(first.at);
}

bool CounterSteps::believed(Seconds at) const {
  return period_ > 0 && (at - phase_).value <= kBelieved;
}

bool CounterSteps::stepping(Seconds at) const {
  return believed(at) && std::min(since_step(at), period_ - since_step(at)) < kUnsure;
}

double CounterSteps::missed(Seconds at, double joules) {
  if (!believed(at)) return 0;
  if (const auto steps = step_of(at) - step_of(last_.at); steps > 0) {
    watts_ = (joules - last_.joules) / (static_cast<double>(steps) * period_);
    last_ = {at, joules};
  }
  return std::max(0.0, watts_) * since_step(at);
}

}  // namespace tandem::measure
