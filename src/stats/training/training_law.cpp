#include "stats/training/training_law.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tandem::stats {
namespace {

double squared(double x) {
  return x * x;
}

double load_of(double processes, double room) {
  return room > 0 ? std::sqrt(1 + squared(processes / room)) : 1;
}

double share_of(double processes, double width) {
  return width > 0 ? std::sqrt(std::sqrt(1 + squared(squared(processes / width)))) : 1;
}

// How long two things take that overlap so well: 0 one after the other, large: as long as the longer.
double overlapped(double one, double other, double how_well) {
  // As a ratio, so that powers of seconds neither overflow nor vanish.
  const double high = std::max(one, other), low = std::min(one, other), g = 1 + how_well;
  return low > 0 ? high * std::pow(1 + std::pow(low / high, g), 1 / g) : high;
}

// How much longer, in percent, both take when `one` takes 1 % longer.
double share(double one, double other, double how_well) {
  return one > 0 ? 1 / (1 + std::pow(other / one, 1 + how_well)) : 0;
}

}  // namespace

TrainingLaw::Step TrainingLaw::parts_of(const TrainingRow& row) const {
  // Those that wait for their turn take nobody's room.
  const double processes = row.cores * row.jobs / row.contention, others = row.jobs - 1;
  const double turns = 1 + (row.contention - 1) * (value_[waits] + value_[stalls] * (1 - 1 / row.cores));
  const double host = turns * (value_[fixed] * load_of(processes, value_[room]) +
                               value_[process] * (processes - 1) + value_[neighbour] * others);
  const double device = turns * row.batch * (value_[record] / row.cores + value_[serial]) *
                        share_of(processes, value_[width]) * (1 + value_[squeeze] * others);
  if (row.replicas <= 1) return {host, device, 0};
  const double on_bus =
      row.largest > 1 ? value_[bus] * (1 + value_[more_bus] * std::max(0.0, row.largest - 2)) : 0;
  const double on_net = row.nodes > 1 ? value_[pair] * (row.nodes > 2 ? value_[many] : 1) +
                                            value_[jitter] * std::sqrt(2 * std::log(row.nodes))
                                      : 0;
  const double ring = overlapped(on_bus, on_net, sharpness_ - 1);
  return {host, device, 2 * (row.replicas - 1) / row.replicas * ring};
}

double TrainingLaw::log_seconds(const TrainingRow& row) const {
  const auto [host, device, sync] = parts_of(row);
  const double work = overlapped(host, device, value_[ahead]);
  const double step =
      sync > 0 ? forward_ * work + overlapped((1 - forward_) * work, sync, value_[overlap]) : work;
  if (!of_jobs_) return std::log(step);
  return std::log(value_[startup] + step * row.records * row.epochs / (row.batch * row.replicas));
}

LawShares TrainingLaw::shares(const TrainingRow& row) const {
  const auto [host, device, sync] = parts_of(row);
  const double work = overlapped(host, device, value_[ahead]), backward = (1 - forward_) * work;
  const double tail = overlapped(backward, sync, value_[overlap]);
  const double of_sync = share(sync, backward, value_[overlap]) * tail / (forward_ * work + tail);
  const double of_host = share(host, device, value_[ahead]);
  return {(1 - of_sync) * of_host, (1 - of_sync) * (1 - of_host), of_sync};
}

std::vector<double> TrainingLaw::numbers() const {
  std::vector<double> out(value_, value_ + kNumbers);
  out.push_back(of_jobs_ ? 1 : 0);
  return out;
}

void TrainingLaw::set_numbers(const std::vector<double>& numbers) {
  assert(numbers.size() == kNumbers + 1);
  std::copy_n(numbers.begin(), static_cast<std::size_t>(kNumbers), value_);
  of_jobs_ = numbers.back() != 0;
}

}  // namespace tandem::stats
