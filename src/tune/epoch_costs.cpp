#include "tune/epoch_costs.h"

#include <algorithm>
#include <cmath>

namespace tandem::tune {
namespace {

constexpr double kQuirks = 0.1;        // a limit that the bounds put this much above the best is still tried
constexpr double kRemembered = 5;      // epochs; a cell is the mean of about as many
constexpr double kOtherMachine = 0.2;  // relative change that is more than noise

}  // namespace

double EpochCosts::cost(const Cell& cell) const {
  const double price = job_.price > 0 ? job_.price : job_.limits.back();
  return job_.energy_weight * cell.joules + (1 - job_.energy_weight) * price * cell.seconds;
}

const EpochCosts::Cell* EpochCosts::find(std::int64_t batch, double limit) const {
  const auto of_batch = cells_.find(batch);
  if (of_batch == cells_.end()) return nullptr;
  const auto cell = of_batch->second.find(limit);
  return cell == of_batch->second.end() ? nullptr : &cell->second;
}

void EpochCosts::add(const EpochSlice& slice) {
  const double seconds = slice.seconds / slice.epochs, joules = slice.joules / slice.epochs;
  auto& cell = cells_[slice.batch][slice.limit];
  const bool whole = slice.epochs >= 1 && cell.weight > 0;
  if (whole && std::abs(std::log(seconds / cell.seconds)) > kOtherMachine) {
    scale_others(slice, seconds / cell.seconds, joules / cell.joules);
    cell = {};
  }
  const double kept = std::min(cell.weight, kRemembered), share = slice.epochs / (kept + slice.epochs);
  cell = {cell.seconds + share * (seconds - cell.seconds), cell.joules + share * (joules - cell.joules),
          kept + slice.epochs};
}

void EpochCosts::scale_others(const EpochSlice& slice, double seconds, double joules) {
  for (auto& [batch, limits] : cells_)
    for (auto& [limit, cell] : limits)
      if (batch != slice.batch || limit != slice.limit) cell.seconds *= seconds, cell.joules *= joules;
}

std::optional<EpochCosts::Best> EpochCosts::best(std::int64_t batch) const {
  const auto of_batch = cells_.find(batch);
  if (of_batch == cells_.end()) return std::nullopt;
  std::optional<Best> out;
  for (const auto& [limit, cell] : of_batch->second)
    if (!out || cost(cell) < out->cost) out = Best{limit, cost(cell)};
  return out;
}

double EpochCosts::first_limit(std::int64_t batch) const {
  double nearest = INFINITY, out = job_.limits.back();
  for (const auto& [other, limits] : cells_) {
    const double away = std::abs(std::log(static_cast<double>(batch) / static_cast<double>(other)));
    if (away < nearest) nearest = away, out = best(other)->limit;
  }
  return out;
}

// The least that an epoch can cost under a limit that was not measured, given those that were.
double EpochCosts::at_best(const std::map<double, Cell>& known, double limit) const {
  const auto above = known.upper_bound(limit);
  Cell out{0, 0, 0};
  double watts = 0;
  const auto slope = [](const auto& low, const auto& high) {  // seconds that a watt more saves
    return std::max(0.0, (low->second.seconds - high->second.seconds) / (high->first - low->first));
  };
  if (above != known.end()) {
    const auto further = std::next(above);
    const double steep = further == known.end() ? 0 : slope(above, further);
    out.seconds = above->second.seconds + steep * (above->first - limit);
    watts = std::min(limit, above->second.joules / above->second.seconds);
  }
  if (above != known.begin()) {
    const auto below = std::prev(above);
    watts = std::max(watts, below->second.joules / below->second.seconds);
    if (below != known.begin()) {
      const double steep = slope(std::prev(below), below);
      out.seconds = std::max(out.seconds, below->second.seconds - steep * (limit - below->first));
    }
  }
  out.joules = watts * out.seconds;
  return cost(out);
}

std::optional<double> EpochCosts::worth_probing(std::int64_t batch) const {
  const auto of_batch = cells_.find(batch);
  if (of_batch == cells_.end()) return first_limit(batch);
  const auto cheapest = *best(batch);
  std::optional<double> out;
  for (const double limit : job_.limits) {
    if (find(batch, limit) || at_best(of_batch->second, limit) > (1 + kQuirks) * cheapest.cost) continue;
    if (!out || std::abs(limit - cheapest.limit) < std::abs(*out - cheapest.limit)) out = limit;
  }
  return out;
}

}  // namespace tandem::tune
