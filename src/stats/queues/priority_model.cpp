#include "stats/queues/priority_model.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace tandem::stats {
namespace {

constexpr int kMostRounds = 20000;
constexpr double kNeverEnds = std::numeric_limits<double>::infinity();

// The fixed point of `next`, which contracts; from `value` on.
template <class Next>
Complex settle_value(Complex value, double scale, Next next) {
  for (int round = 0; round < kMostRounds; ++round) {
    const Complex better = next(value);
    const double moved = std::abs(better - value);
    value = better;
    if (moved <= 1e-12 * std::abs(value) + 1e-16 * scale) break;
  }
  return value;
}

// The mean time a server spends on a customer that begins again at every arrival of rate `rate`.
double mean_attempts(const std::vector<PhaseType::Slice>& slices, double rate) {
  double sum = 0;
  for (const auto& slice : slices) sum += slice.probability * std::expm1(rate * slice.time) / rate;
  return sum;
}

}  // namespace

const char* name_of(Discipline discipline) {
  switch (discipline) {
    case Discipline::non_preemptive:
      return "non-preemptive";
    case Discipline::preemptive_resume:
      return "preemptive-resume";
    case Discipline::preemptive_restart:
      return "preemptive-restart";
  }
  return "?";
}

PriorityModel::PriorityModel(std::vector<QueueClass> highest_first, Discipline discipline)
    : classes_(std::move(highest_first)), discipline_(discipline) {
  double rate = 0, load = 0, again = 0, stretch = 1;
  for (const auto& c : classes_) {
    if (!(c.rate >= 0) || !(c.service.mean > 0))
      throw UserError(
          fmt::format("a class with {} arrivals a second and a service of {} s", c.rate, c.service.mean));
    higher_rate_.push_back(rate);
    higher_load_.push_back(load);
    stretch_.push_back(stretch);
    slices_.push_back(restarts() && rate > 0 ? c.service.slices() : std::vector<PhaseType::Slice>{});
    attempts_.push_back(restarts() && rate > 0 ? mean_attempts(slices_.back(), rate) : c.service.mean);
    const double completion = attempts_.back() * stretch;
    stretch = c.rate * completion < 1 ? stretch / (1 - c.rate * completion) : kNeverEnds;
    again += c.rate * (attempts_.back() - c.service.mean);
    load_ += c.rate * attempts_.back();
    rate += c.rate;
    load += c.rate * c.service.mean;
  }
  waste_ = load_ > 0 ? again / load_ : 0;
}

bool PriorityModel::settles(std::size_t which) const {
  if (discipline_ == Discipline::non_preemptive) return load_ < 1;
  return classes_[which].rate * attempts_[which] * stretch_[which] < 1;
}

double PriorityModel::mean_response(std::size_t which) const {
  assert(which < classes_.size());
  if (!settles(which)) return kNeverEnds;
  const auto& own = classes_[which];
  const double above = higher_load_[which], with_own = above + own.rate * own.service.mean;
  if (restarts())
    return mean_of([&](Complex s) { return response_transform(which, s); },
                   attempts_[which] * stretch_[which]);
  double residual = 0;  // half the second moments of those who can be in service on arrival
  for (std::size_t i = 0; i < classes_.size(); ++i)
    if (i <= which || discipline_ == Discipline::non_preemptive)
      residual += classes_[i].rate * classes_[i].service.square / 2;
  const double waiting = residual / ((1 - above) * (1 - with_own));
  return waiting + own.service.mean / (discipline_ == Discipline::non_preemptive ? 1 : 1 - above);
}

double PriorityModel::percentile(std::size_t which, double p) const {
  if (!settles(which)) return kNeverEnds;
  return quantile_of([&](Complex s) { return response_transform(which, s); }, p, mean_response(which));
}

Complex PriorityModel::response_transform(std::size_t which, Complex s) const {
  if (discipline_ == Discipline::non_preemptive)
    return waiting_non_preemptive(which, s) * classes_[which].service.transform(s);
  return response_preemptive(which, s);
}

// The transform's argument for a time that the classes above stretch: s + rate - rate · busy period(s). With
// restarts a class's busy periods are made of completions, and sit inside those of the classes above it.
Complex PriorityModel::stretched(std::size_t which, Complex s) const {
  if (which == 0) return s;
  if (restarts()) {
    const std::size_t last = which - 1;
    const double rate = classes_[last].rate;
    const Complex inner =
        settle_value(s + rate, rate, [&](Complex z) { return s + rate * (1.0 - completion(last, z)); });
    return stretched(last, inner);
  }
  return settle_value(s + higher_rate_[which], higher_rate_[which], [&](Complex y) {
    Complex out = s;
    for (std::size_t i = 0; i < which; ++i)
      out += classes_[i].rate * (1.0 - classes_[i].service.transform(y));
    return out;
  });
}

// From the first second in service to the end, with everything the classes above put between.
Complex PriorityModel::completion(std::size_t which, Complex s) const {
  const auto& service = classes_[which].service;
  const double rate = higher_rate_[which];
  const Complex y = stretched(which, s);
  if (!restarts() || rate == 0) return service.transform(y);
  const Complex interruption = (s + rate - y) / (s + rate);  // an arrival comes first, and its busy period
  Complex sum = 0;
  for (const auto& slice : slices_[which]) {
    const Complex undisturbed = std::exp(-(s + rate) * slice.time);
    sum += slice.probability * undisturbed / (1.0 - interruption * (1.0 - undisturbed));
  }
  return sum;
}

Complex PriorityModel::waiting_non_preemptive(std::size_t which, Complex s) const {
  const auto& own = classes_[which];
  const Complex y = stretched(which, s);
  Complex above = (1 - load_) * y;
  for (std::size_t i = which + 1; i < classes_.size(); ++i)
    above += classes_[i].rate * (1.0 - classes_[i].service.transform(y));
  return above / (s - own.rate + own.rate * own.service.transform(y));
}

// The class alone, its services stretched to completions, and the busy periods of those above as vacations.
Complex PriorityModel::response_preemptive(std::size_t which, Complex s) const {
  const auto& own = classes_[which];
  const Complex y = stretched(which, s), done = completion(which, s);
  const double idle = (1 - own.rate * attempts_[which] * stretch_[which]) / stretch_[which];
  return idle * y / (s - own.rate + own.rate * done) * done;
}

}  // namespace tandem::stats
