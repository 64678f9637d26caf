#include "measure/counter_steps.h"

#include <algorithm>
#include <cmath>

namespace tandem::measure {
namespace {

constexpr double kGrid = 0.02, kOffTheGrid = 0.009;  // seconds
constexpr double kShortest = 0.03, kLongest = 0.3;   // seconds between steps
constexpr double kOutOfStep = 0.3;                   // of a step: it is not the counter that was known
constexpr double kManySteps = 20;                    // tell better how far apart they are
constexpr int kAlways = 4;                           // polls in a row at which it moved
constexpr double kBelieved = 10;                     // seconds
constexpr double kUnsure = 0.008;                    // seconds that a step may be earlier or later

}  // namespace

void CounterSteps::begin(Seconds at, double joules) {
  polls_ = {{at, joules}};
  steps_.clear();
  moves_in_a_row_ = 0;
  // A program that is ready begins to train: what it draws now is not what it drew before.
  watts_before_.reset();
  if (read_ && at > read_->at) watts_before_ = (joules - read_->joules) / (at - read_->at).value;
  read_ = {at, joules};
}

CounterSteps::Search CounterSteps::poll(Seconds at, double joules) {
  if ((at - polls_.front().at).value > 2 * kLongest) return Search::none;
  const bool moved = joules != polls_.back().joules;
  // Between its first reading and the next much else may have been done.
  if (moved && polls_.size() > 1) steps_.push_back({(polls_.back().at + at) / 2, joules});
  polls_.push_back({at, joules});
  moves_in_a_row_ = moved ? moves_in_a_row_ + 1 : 0;
  if (moves_in_a_row_ >= kAlways) return Search::none;
  if (steps_.size() < (period_ > 0 ? 1 : 2)) return Search::goes_on;
  return learn() ? Search::found : Search::none;
}

bool CounterSteps::learn() {
  const Look& now = steps_.back();
  if (period_ > 0) {
    const double passed = steps_at(now.at), steps = std::round(passed);
    if (std::abs(passed - steps) > kOutOfStep) return false;
    if (steps >= kManySteps) period_ *= passed / steps;
    phase_ = now.at;
  } else {
    const double apart = (steps_[1].at - steps_[0].at).value;
    period_ = std::round(apart / kGrid) * kGrid;
    if (period_ < kShortest || period_ > kLongest || std::abs(apart - period_) > kOffTheGrid) return false;
    phase_ = (steps_[0].at + Seconds{period_} + steps_[1].at) / 2;
  }
  last_ = 0, joules_ = now.joules;
  const double steps = std::max(1.0, -std::floor(steps_at(polls_.front().at)));
  watts_ = std::max(0.0, (now.joules - polls_.front().joules) / (steps * period_));
  return true;
}

double CounterSteps::steps_at(Seconds at) const {
  return (at - phase_).value / period_;
}

double CounterSteps::first_missed() const {
  const double at = steps_at(polls_.front().at);
  return watts_before_.value_or(watts_) * (at - std::floor(at)) * period_;
}

bool CounterSteps::believed(Seconds at) const {
  return period_ > 0 && (at - phase_).value <= kBelieved;
}

bool CounterSteps::stepping(Seconds at) const {
  return believed(at) && std::abs(steps_at(at) - std::round(steps_at(at))) * period_ < kUnsure;
}

double CounterSteps::missed(Seconds at, double joules) {
  read_ = {at, joules};
  if (!believed(at)) return 0;
  const auto step = static_cast<std::int64_t>(std::floor(steps_at(at)));
  if (step > last_) {
    watts_ = std::max(0.0, (joules - joules_) / (static_cast<double>(step - last_) * period_));
    last_ = step, joules_ = joules;
  }
  return watts_ * std::max(0.0, steps_at(at) - static_cast<double>(step)) * period_;
}

}  // namespace tandem::measure
